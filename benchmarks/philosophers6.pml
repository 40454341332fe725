/* The dining philosophers of models/benchmarks/philosophers6.rebeca for SPIN: every rebec a process with
   a channel of its own, every message served in one indivisible step. */
#define N 6
mtype = { none, think, granted, eat, request, release };
chan phil[N] = [4] of { mtype };
chan fork[N] = [5] of { mtype, byte };  /* which of its two philosophers has sent it: 1 or 2 */

proctype Phil(byte me; byte first; byte as_first; byte second; byte as_second) {
  byte held = 0;
  mtype m = none;
  do
  :: d_step {
       phil[me]?m ->
       if
       :: m == think -> fork[first]!request(as_first)
       :: m == granted ->
          if
          :: held == 0 -> held = 1; fork[second]!request(as_second)
          :: else -> held = 2; phil[me]!eat
          fi
       :: m == eat ->
          held = 0;
          fork[second]!release(as_second);
          fork[first]!release(as_first);
          phil[me]!think
       fi;
       m = none
     }
  od
}

proctype Fork(byte me; byte a; byte b) {
  byte owner = 0, waiter = 0, who = 0;
  mtype m = none;
  do
  :: d_step {
       fork[me]?m(who) ->
       if
       :: m == request ->
          if
          :: owner == 0 ->
             owner = who;
             if
             :: who == 1 -> phil[a]!granted
             :: else -> phil[b]!granted
             fi
          :: else -> assert(waiter == 0); waiter = who
          fi
       :: m == release ->
          owner = waiter;
          waiter = 0;
          if
          :: owner == 1 -> phil[a]!granted
          :: owner == 2 -> phil[b]!granted
          :: else
          fi
       fi;
       m = none;
       who = 0
     }
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. N - 1) { phil[i]!think }
    /* philosopher i has the forks i and i + 1, the last one takes fork 0 first */
    for (i : 0 .. N - 2) {
      if
      :: i == 0 -> run Phil(i, 0, 1, 1, 1)
      :: else -> run Phil(i, i, 2, i + 1, 1)
      fi
    }
    run Phil(N - 1, 0, 2, N - 1, 2);
    run Fork(0, 0, N - 1);
    for (i : 1 .. N - 1) { run Fork(i, i - 1, i) }
    i = 0
  }
}
