import { expect, it } from "vitest";
import {
  afterReport,
  afterWaking,
  chooseFree,
  isSilent,
  redialSeconds,
  type Member,
  type WaitingWork,
} from "#domain/agent-pool";
import type { Capabilities } from "#lib/contract/index";
import { capabilities } from "../support/fake-agent.ts";

const abilities: Record<string, Capabilities> = {
  usual: capabilities,
  full: { ...capabilities, hasRoom: false },
  arm: { ...capabilities, machines: ["aarch64"] },
  other: { ...capabilities, arches: ["i586"], testdrives: false },
};
const wanted = {
  imageType: "oem",
  arch: "x86_64",
  packageType: "rpm",
  needsLvm: false,
  needsEfi: false,
  fileSystem: "ext4",
} as const;
const build: WaitingWork = { kind: "build", wanted };
const testdrive: WaitingWork = { kind: "testdrive" };

const member = (builds: number, more: Partial<Member> = {}): Member => ({
  report: { type: "report", load: 0, freeGb: 9, slots: { builds: 1, testdrives: 1 }, free: { builds, testdrives: 1 } },
  abilities: "usual",
  ...more,
});

/** The number of the agent that is woken. */
function chosen(work: WaitingWork, members: Member[], at = 0): number | undefined {
  const agents = members.map((each, nth) => ({ nth, member: each }));
  return chooseFree(agents, { work, at, can: (key) => abilities[key] })?.nth;
}

const { report: _, ...unreported } = member(1);
const armed = member(1, { abilities: "arm" });

it.each<[string, WaitingWork, Member[], number | undefined]>([
  ["a free agent", build, [member(0), member(1)], 1],
  ["the one with the most free slots", build, [member(1), member(3), member(2)], 1],
  ["of equal ones the one that was woken the longest ago", build, [5e4, 3e4, 4e4].map(wokenAt), 1],
  ["none if all are busy", build, [member(0)], undefined],
  ["none that the operator has drained", build, [member(1, { isDrained: true })], undefined],
  ["none that has not said what it can do", build, [unreported], undefined],
  ["none whose abilities are forgotten", build, [member(1, { abilities: "unknown" })], undefined],
  ["none that cannot do it", build, [member(1, { abilities: "other" })], undefined],
  ["none that has no room", build, [member(1, { abilities: "full" })], undefined],
  ["for a testdrive one without room for builds", testdrive, [member(0, { abilities: "full" })], 0],
  ["for a testdrive one that starts such machines", { ...testdrive, arch: "aarch64" }, [member(2), armed], 1],
  ["for a testdrive of a PC none that starts only others", testdrive, [armed], undefined],
  ["for a testdrive none that has no emulator", testdrive, [member(1, { abilities: "other" })], undefined],
])("wakes %s", (_what, work, members, expected) => {
  expect(chosen(work, members, 100_000)).toBe(expected);
});

function wokenAt(at: number): Member {
  return member(1, { woken: { at, builds: 0, testdrives: 0 } });
}

it("does not wake an agent for more work than it has slots", () => {
  const once = afterWaking(member(2), "build", 1000);
  const twice = afterWaking(once, "build", 1000);
  expect([chosen(build, [once], 2000), chosen(build, [twice], 2000)]).toEqual([0, undefined]);
  expect(chosen(testdrive, [twice], 2000), "its other slots").toBe(0);
});

it("wakes an agent again after its next report, or after a while without one", () => {
  const woken = afterWaking(member(1), "build", 1000);
  expect(chosen(build, [afterReport(woken, member(1).report, "usual")], 2000)).toBe(0);
  expect(chosen(build, [afterReport(woken, member(0).report, "usual")], 2000)).toBeUndefined();
  expect([chosen(build, [woken], 30_999), chosen(build, [woken], 31_000)]).toEqual([undefined, 0]);
  const again = afterWaking(woken, "build", 31_000);
  expect([chosen(build, [again], 32_000), chosen(build, [again], 61_000)]).toEqual([undefined, 0]);
});

it("wakes each of a thousand agents once for a thousand builds", () => {
  const agents = Array.from({ length: 1000 }, (_each, nth) => ({ nth, member: member(1) }));
  const woken = agents.map(() => {
    const agent = chooseFree(agents, { work: build, at: 1000, can: (key) => abilities[key] });
    if (agent) agent.member = afterWaking(agent.member, "build", 1000);
    return agent?.nth;
  });
  expect(new Set(woken)).toEqual(new Set(agents.keys()));
});

it("knows an agent of an older version", () => {
  const older = { type: "report", load: 0, freeGb: 9, slots: { builds: 1, testdrives: 1 } } as const;
  expect([{}, { report: older }, member(0)].map((each) => isSilent(each))).toEqual([true, true, false]);
});

it("lets fifty agents connect in a second", () => {
  expect([1, 49, 50, 10_000].map((agents) => redialSeconds(agents))).toEqual([0, 0, 1, 200]);
});
