/**
 * Verifies, in emulated machines, that images start with Secure Boot and changed images do not, and writes a report.
 */
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { imageTypes } from "#lib/contract/index";
import { Complaint } from "./launch/complaint.ts";
import { print } from "./launch/progress.ts";
import { projectRoot } from "./launch/project.ts";
import { verifyImage } from "./verify/report-file.ts";
import { bootsSecurely, refusesChanged, type Workspace } from "./verify/secure-boot/boots.ts";
import { verifyOwner } from "./verify/secure-boot/owner.ts";
import { debianChain } from "./verify/secure-boot/signed-programs.ts";
import type { StepRecord } from "./verify/step-record.ts";

const usage = `npm run verify:secure-boot -- IMAGE [options]

Boots IMAGE with Secure Boot on and Microsoft's keys until its login. Then it changes one byte in shim, in GRUB and in the kernel, one
after the other, and each changed image must be refused. Writes a report. IMAGE is a raw disk or a medium (.iso) of Debian with
shim-signed.

  --owner          IMAGE is a raw disk with systemd-ukify. It is signed with the key of a firmware for tests, and boots with that
                   key alone. Then a changed copy, one with another signature and one without any must be refused
  --type TYPE      the image's type, such as iso or oemiso (default: oem)
  --name NAME      its name in the report (default: the name of the file)
  --report FILE    where the report goes (default: docs/verified/secure-boot.md)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    type: { type: "string", default: "oem" },
    name: { type: "string" },
    owner: { type: "boolean", default: false },
    report: { type: "string", default: join(projectRoot, "docs/verified/secure-boot.md") },
  },
});

const seen = () => "the kernel reports that Secure Boot is on, and the login comes";

const [image] = positionals;
if (image === undefined) print(usage);
else await verify(resolve(image));

async function verify(path: string): Promise<void> {
  const imageType = imageTypes.find((type) => type === values.type);
  if (imageType === undefined) throw new Complaint(`${values.type} is not an image type.`);
  const of = values.name ?? basename(path);
  const verifying = { title: "Secure Boot", command: "verify:secure-boot", report: values.report };
  await verifyImage(verifying, async ({ record, ...here }) => {
    const workspace = { image: path, imageType, ...here };
    if (values.owner) await verifyOwner(record, of, { ...workspace, keys: "snakeoil" });
    else await verifyDebian(record, of, { ...workspace, keys: "ms" });
  });
}

async function verifyDebian(record: StepRecord, of: string, workspace: Workspace): Promise<void> {
  await record.step({ of, what: "boot", seen }, () => bootsSecurely(workspace));
  for (const program of debianChain) {
    const changed = { of, what: `boot with a changed byte in ${program}` };
    await record.step({ ...changed, seen: (message) => `refused: ${message}` }, () =>
      refusesChanged(workspace, program),
    );
  }
}
