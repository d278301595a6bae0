import { describe, expect, it } from "vitest";
import { insideRepository, locationUrl } from "#lib/repodata/location";

describe("insideRepository", () => {
  it.each([
    ["x86_64/gtk+-1.0~rc1-1.x86_64.rpm", "x86_64/gtk+-1.0~rc1-1.x86_64.rpm"],
    ["./a//b/./c.rpm", "a/b/c.rpm"],
    ["..a/b..c.rpm", "..a/b..c.rpm"],
    ["data:text.rpm", "data:text.rpm"],
    ["100%.rpm", "100%.rpm"],
  ])("accepts %s as %s", (href, path) => {
    expect(insideRepository(href)).toBe(path);
  });
});

describe("locationUrl", () => {
  it.each([
    ["http://dl.example/repo/", "a/b.rpm", "http://dl.example/repo/a/b.rpm"],
    ["http://dl.example", "a.rpm", "http://dl.example/a.rpm"],
    ["http://dl.example/repo?key=1", "a.rpm", "http://dl.example/repo/a.rpm?key=1"],
    ["http://dl.example/repo", "javascript:x", "http://dl.example/repo/javascript:x"],
    ["http://dl.example/repo", "a?b#c.rpm", "http://dl.example/repo/a%3Fb%23c.rpm"],
    ["http://dl.example/devel:/perl", "libstdc++-1^git.rpm", "http://dl.example/devel:/perl/libstdc++-1%5Egit.rpm"],
  ])("joins %s and %s", (base, path, url) => {
    expect(locationUrl(base, path)).toBe(url);
  });
});
