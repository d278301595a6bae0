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
import { bootsSecurely, refusesChanged } from "./verify/secure-boot/boots.ts";
import { checked, type Program } from "./verify/secure-boot/signed-programs.ts";

const usage = `npm run verify:secure-boot -- IMAGE [options]

Boots IMAGE with Secure Boot on and Microsoft's keys until its login. Then it changes one byte in shim, in GRUB and in the kernel, one
after the other, and each changed image must be refused. Writes a report. IMAGE is a raw disk or a medium (.iso) of Debian with
shim-signed.

  --type TYPE      the image's type, such as iso or oemiso (default: oem)
  --name NAME      its name in the report (default: the name of the file)
  --report FILE    where the report goes (default: docs/verified/secure-boot.md)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    type: { type: "string", default: "oem" },
    name: { type: "string" },
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
    await record.step({ of, what: "boot", seen }, () => bootsSecurely(workspace));
    for (const program of Object.keys(checked) as Program[]) {
      const changed = { of, what: `boot with a changed byte in ${program}` };
      await record.step({ ...changed, seen: ({ refusal }) => `refused: ${refusal}` }, () =>
        refusesChanged(workspace, program),
      );
    }
  });
}
