"""A plug-in: dispatch the longest job first.

    rebecsim compare my_scenario.toml --plugin longest_job_first.py --out results

The scenario can then list "LJF" among its policies.
"""

from rebecsim.clusters import DispatchPolicy, Plugin

CHOOSE_JOB = """\
  // Longest job first: the most work, of equals the lowest slot.
  int chooseJob() {
    int best;
    best = -1;
    for (int i = 0; i < QUEUE_SIZE; i++) {
      if (m_deadline[i] > 0) {
        if (best == -1) {
          best = i;
        } else if (m_length[i] > m_length[best]) {
          best = i;
        }
      }
    }
    return best;
  }
"""

plugin = Plugin(
    dispatch_policies=(
        DispatchPolicy(
            name="LJF",
            title="Longest job first",
            description="the job with the most work; of equals the lowest slot",
            fragment="longest_job_first.j2",
        ),
    ),
    fragments={"longest_job_first.j2": CHOOSE_JOB},
)
