import { describe, expect, it } from "vitest";
import { creditProtocol, creditWindowBytes, maxFrameBytes } from "#lib/contract/index";
import * as page from "../../../src/web/client/credit.ts";

describe("CreditCount", () => {
  it("uses the contract's protocol name", () => {
    expect(page.creditProtocol).toBe(creditProtocol);
  });

  it.each([1_000, maxFrameBytes - 1, maxFrameBytes, creditWindowBytes])(
    "keeps the agent's window over half open with frames of %i bytes",
    (frameBytes) => {
      const count = new page.CreditCount();
      let underWay = 0;
      for (let i = 0; i < 5_000; i++) underWay += frameBytes - count.take(frameBytes);

      expect(underWay).toBeGreaterThanOrEqual(0);
      expect(underWay).toBeLessThan(creditWindowBytes / 2);
    },
  );

  it("does not send a credit with every frame", () => {
    const count = new page.CreditCount();
    const credits = Array.from({ length: 100 }, () => count.take(10_000)).filter((credit) => credit > 0);

    expect(credits.length).toBeLessThan(5);
  });
});
