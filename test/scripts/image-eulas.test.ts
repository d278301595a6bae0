/** An image's licence questions before its first login. The answers come from standard input, not from consoles. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-eulas-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const inImage = imagesIn(dir);

const long = Array.from({ length: 45 }, (_, at) => `Line ${at + 1}`).join("\n");

describe.each(["bash", "dash"])("licences, shown by %s,", (shell) => {
  /** The output until all licences are accepted, or the machine is powered off. */
  function answered(eulas: string[], ...lines: string[]): string {
    const answers = join(dir, "answers");
    writeFileSync(answers, lines.map((line) => `${line}\n`).join(""));
    const ask = String.raw`
      printf '#!/bin/sh\necho OFF\nkill -KILL $PPID\n' > /usr/sbin/poweroff
      chmod 755 /usr/sbin/poweroff
      sed -i 's/^on_consoles accept_all/accept_all; echo ACCEPTED/' /usr/lib/kiln/accept-eulas
      { ${shell} /usr/lib/kiln/accept-eulas < ${answers} || true; } 2> /dev/null`;
    return inImage({ eulas }, ask);
  }

  it("are shown one after the other, twenty lines at a time", () => {
    const output = answered(["First", long], "yes", "", "", "Y");
    expect(output).toMatch(/^\nFirst\n\nDo you accept this licence\? \(yes\/no\) \nLine 1\n/);
    expect(output).toMatch(
      /Line 20\n-- Press Enter for more --Line 21\n[^]*Line 40\n-- Press Enter for more --Line 41\n/,
    );
    expect(output).toMatch(/Line 45\n\nDo you accept this licence\? \(yes\/no\) ACCEPTED\n$/);
  });

  it("are asked again until there is an answer", () => {
    expect(answered(["First"], "", "perhaps", "yes").match(/Do you accept/g)).toHaveLength(3);
  });

  it("power the system off if one is not accepted", () => {
    const output = answered(["First", "Second"], "yes", "no", "yes");
    expect(output).toMatch(/Second\n\n[^\n]*You cannot use the system without accepting it\. Switching off\.\nOFF\n$/);
  });
});
