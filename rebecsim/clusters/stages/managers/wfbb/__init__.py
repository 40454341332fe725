"""WFBB-RM: workflows get budgets of their laxity, and are mapped by them, one job at a time.

Lim, PhD thesis, Carleton University, chapter 7. What the thesis leaves open is decided here:

- A task is placed on the first resource that has a slot at the best time; as early as it can, on
  that whose slot has been free for the least time before, as chapter 4 does it for MRCP-RM: what is
  reserved far ahead cuts resources up, and long gaps are left to the tasks that need them.
- With TSP2 a task for which there is no place before its sub-deadline gets the earliest one.
- A parent gets until the latest sub-deadline of all parents of a task only if no other task waits
  for it. Otherwise CyberShake's seismograms would end so late that peak values hardly ever fit
  before the deadline, which is not what has been published. Which of two tasks that take as long
  is placed first is said by sub-deadlines without this exception.
- Jobs are compared by their laxity on free resources, also where true laxity is divided: as
  published, it then makes no difference for tasks that begin as early as they can.
- The phases of a job are those of all its tasks, dummies included.
- Nothing is placed before the time of the decision.
- A job is remapped with another if some of its tasks have not started, and it starts or ends
  between the earliest start and the deadline of the other; of such jobs those count as late already
  that are planned to end after their deadlines.
- What a remapping within a remapping leaves behind when it fails is not looked at: the outermost
  one puts everything back.
- A decision tries at most `MOST_ATTEMPTS` remappings, those within others included.
"""
