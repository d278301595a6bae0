import type { CheckReport, CheckResult } from "#lib/contract/index";

/** An agent's report of a machine that reached its login prompt. */
export const checkReport = (results: CheckResult[], more: Partial<CheckReport> = {}): CheckReport => ({
  results,
  loginSeconds: 12.4,
  isEmulated: true,
  console: "Welcome\ntiny login: ",
  screen: null,
  ...more,
});
