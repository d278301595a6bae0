import { describe, expect, it } from "vitest";
import { decrypt, encrypt } from "#domain/secrets";

const [old, next] = [btoa("0123456789abcdef0123456789abcdef"), btoa("fedcba9876543210fedcba9876543210")];

describe("the encryption key", () => {
  it("can be replaced: what the old one encrypted stays readable behind the new one", async () => {
    const cipher = await encrypt(old, "secret");
    const both = `${next} ${old}`;
    expect(await decrypt(both, cipher)).toBe("secret");
    expect(await decrypt(next, await encrypt(both, "later"))).toBe("later");
    await expect(decrypt(next, cipher)).rejects.toThrow();
    await expect(decrypt(both, `${cipher.slice(0, -6)}AAAA==`)).rejects.toThrow();
  });
});
