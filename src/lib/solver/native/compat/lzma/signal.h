/* WASM has no signals. mythread.h uses these two in a function that a single-threaded decoder never calls. */
typedef int sigset_t;

static inline int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  (void)how, (void)set, (void)old;
  return 0;
}
