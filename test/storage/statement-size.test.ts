import { describe, expect, it } from "vitest";
import { StatementSize } from "#storage/statement-size";

/** The sizes of a hundred statements. Each unit takes `msEach` of the database's time. */
function sizes(msEach: number, limits = { first: 200, least: 50, most: 5000 }): number[] {
  const statement = new StatementSize(limits);
  return Array.from({ length: 100 }, () => {
    const { size } = statement;
    statement.learn(size, size * msEach);
    return size;
  });
}

describe("the size of a statement", () => {
  it("becomes what takes 12 ms, however fast the database is", () => {
    for (const msEach of [0.01, 0.05, 0.1]) expect((sizes(msEach).at(-1) ?? 0) * msEach).toBeCloseTo(12, 0);
  });

  it("stays within its limits", () => {
    expect(Math.max(...sizes(0.0001))).toBe(5000);
    expect(Math.min(...sizes(10))).toBe(50);
  });

  it("is at most halved after one slow statement", () => {
    const statement = new StatementSize({ first: 1000, least: 50, most: 5000 });
    statement.learn(1000, 10_000);
    expect(statement.size).toBe(500);
  });
});
