"""Jobs for MapReduce clusters: published mixes, benchmarks by size, traces, and arrivals."""
