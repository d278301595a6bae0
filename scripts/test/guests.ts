/**
 * Tests that build and boot in emulated machines, which takes minutes of processor time each: builds in disposable
 * guests, a Debian from its mirror to a login, and images that the agent's own code builds without a service.
 */
export const guestTests = ["guest-*", "debian-image", "agent-build", "uefi-medium"].map(
  (name) => `test/acceptance/${name}.test.ts`,
);

/** The environment variable with the tests that need not run, because their digest has passed (guest-record.ts). */
export const notRun = "KILN_GUEST_TESTS_NOT_RUN";
