/**
 * Tests that build and boot in emulated machines, which takes minutes of processor time each: builds in disposable
 * guests, and a Debian from its mirror to a login.
 */
export const guestTests = ["test/acceptance/guest-*.test.ts", "test/acceptance/debian-image.test.ts"];

/** The environment variable with the tests that need not run, because their digest has passed (guest-record.ts). */
export const notRun = "KILN_GUEST_TESTS_NOT_RUN";
