import { describe, expect, it } from "vitest";
import { closest, didYouMean, piecesOf } from "#domain/software/closest-names";

const names = [
  "apache2",
  "bash",
  "busybox",
  "dhcp-client",
  "dhcp-server",
  "hello",
  "hello-docs",
  "kernel-default",
  "kernel-devel",
  "libgreet",
  "NetworkManager",
  "nftables",
  "postgresql15",
  "python3-requests",
  "webdemo",
  "webdemo-pro",
  "webdemo-theme",
];

describe("closest", () => {
  it.each<[string, string[]]>([
    ["webdmo", ["webdemo"]],
    ["helo", ["hello"]],
    ["ehllo", ["hello"]],
    ["bahs", ["bash"]],
    ["hellp", ["hello"]],
    ["apache", ["apache2"]],
    ["kernel-defualt", ["kernel-default"]],
    ["kernel-def", ["kernel-devel"]],
    ["dhcp", ["dhcp-client", "dhcp-server"]],
    ["networkmanager", ["NetworkManager"]],
    ["python-requests", ["python3-requests"]],
    ["webdemo-por", ["webdemo-pro"]],
    ["postgresql", ["postgresql15"]],
    ["firefox", []],
    ["zz", []],
  ])("finds the names close to %s", (name, meant) => {
    expect(closest(name, names)).toEqual(meant);
  });

  it("returns at most three names, the closest first, then by name", () => {
    expect(closest("tools", ["tools4", "tools2", "tool", "tools3", "toolbox", "tolos"])).toEqual([
      "tolos",
      "tool",
      "tools2",
    ]);
  });
});

describe("piecesOf", () => {
  it.each([
    ["zz", []],
    ["helo", ["hel", "elo"]],
    ["webdemo", ["web", "ebd", "bde", "dem", "emo"]],
    ["libgreat", ["libg", "reat"]],
    ["kernel-defualt", ["kern", "el-d", "efualt"]],
  ])("splits %s", (name, pieces) => expect(piecesOf(name)).toEqual(pieces));
});

describe("didYouMean", () => {
  it.each([
    [[], ""],
    [["a"], " Did you mean a?"],
    [["a", "b", "c"], " Did you mean a, b or c?"],
  ])("suggests %j", (given, asked) => expect(didYouMean(given)).toBe(asked));
});
