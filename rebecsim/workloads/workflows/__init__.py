"""Workflows as other tools write them: Pegasus' DAX and the instances of WfCommons."""
