/**
 * Tests that build and boot in emulated machines, which takes minutes of processor time each: builds in disposable
 * guests, images that the agent's own code builds without a service, and images that a whole service builds on requests
 * to its API: a Debian from its mirror to a login, each format, every field of the configuration, and unusual builds.
 */
export const guestTests = [
  "guest-*",
  "debian-image",
  "agent-build",
  "uefi-medium",
  "formats",
  "configuration-image",
  "builds",
].map((name) => `test/acceptance/${name}.test.ts`);

/** The environment variable with the tests to skip, because their digest has passed (guest-record.ts). */
export const notRun = "KILN_GUEST_TESTS_NOT_RUN";
