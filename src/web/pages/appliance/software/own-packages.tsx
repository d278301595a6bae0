import type { Context } from "hono";
import { pathId } from "#http/params";
import { useUserRepository } from "#domain/repositories/of-appliance";
import { discardUpload, stageUpload } from "#domain/rpms/staging";
import { addUpload, deleteUpload } from "#domain/rpms/upload";
import type { Rpm } from "#storage/rpms";
import { factory, type WebEnv } from "../../../factory.ts";
import { Button } from "../../../parts/button.tsx";
import { Confirm } from "../../../parts/dialog.tsx";
import { Field } from "../../../parts/field.tsx";
import { Form } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Moment } from "../../../parts/moment.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { counted, size } from "../../../parts/words.ts";
import { submit } from "../../../submit.ts";
import { submitFiles } from "../../../submit-files.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";
import type { ShownSoftware } from "./shown.ts";

const route = `${applianceRoute}/software/packages`;
const maxFiles = 20;

/** A person's own packages, which make up the user repository for the appliance's base system. */
export const ownPackageActions = (again: (c: Context<WebEnv>) => Promise<Response>) =>
  factory
    .createApp()
    .post(route, (c) => {
      const { env, var: given } = c;
      const { db, account, appliance } = given;
      const { baseSystem } = appliance;
      return submitFiles(c, {
        form: "own-packages",
        maxFiles,
        rate: "uploads",
        fieldOf: { invalid_file: "file" },
        noFile: "Choose a package.",
        again,
        store: (file) => stageUpload({ env, db }, { account }, file),
        sha256Of: ({ sha256 }) => sha256,
        discard: (staged) => discardUpload({ env, db }, staged),
        act: async (_fields, { files, use }) => {
          for (const staged of files) await use(staged, () => addUpload({ env, db }, { account, baseSystem }, staged));
          await useUserRepository(db, account, appliance);
          const names = files.map(({ fileName }) => fileName).join(", ");
          const text = `${names.slice(0, 400)} ${files.length === 1 ? "is" : "are"} uploaded. Search to add what is in it.`;
          return { to: softwareOf(c), result: { text } };
        },
      });
    })
    .post(`${route}/:rpm{\\d+}/delete`, (c) =>
      submit(c, {
        again,
        act: async () => {
          await deleteUpload({ env: c.env, db: c.var.db }, c.var.account, pathId(c, "rpm", "invalid_rpm_id"));
          return { to: softwareOf(c), result: { text: "The package is deleted." } };
        },
      }),
    );

const softwareOf = (c: Context<WebEnv>): string => applianceAt(c.var.appliance.id, "software");

export const OwnPackages = ({ seen: { appliance, uploads } }: { seen: ShownSoftware }) => {
  const at = applianceAt(appliance.id, "software/packages");
  return (
    <Panel id="own" title="Your packages" count={uploads.length} isFlush hint="for this base system">
      <ul class="rows tight">
        {uploads.map((upload) => (
          <One upload={upload} at={at} />
        ))}
      </ul>
      <Form action={at} id="own-packages" class="body stack-s drop" once hasFile upload="main">
        <Field
          name="file"
          label="Upload packages, or a tarball of packages"
          type="file"
          hint={`RPMs, or .deb files where the base is Debian. Drop them here, at most ${maxFiles} at a time.`}
          also={{ multiple: true, accept: ".rpm,.deb,.tar,.tgz,.gz,.xz,.zst,.bz2" }}
        />
        <div class="row">
          <Button icon="upload">Upload</Button>
        </div>
      </Form>
    </Panel>
  );
};

const One = ({ upload, at }: { upload: Rpm; at: string }) => {
  const { id, fileName, isArchive, packages, storedBytes, uploadedAt } = upload;
  return (
    <li>
      <div class="line">
        <Icon name={isArchive ? "layers" : "package"} />
        <span class="grow breaks">
          {fileName}
          <br />
          <span class="quiet">
            {isArchive && `${counted(packages.length, "package")}, `}uploaded <Moment at={uploadedAt} />
          </span>
        </span>
        <span class="num quiet">{size(storedBytes)}</span>
        <Confirm
          id={`delete-rpm-${id}`}
          words="Delete"
          about={fileName}
          look="small plain danger"
          title={`Delete ${fileName}?`}
          action={`${at}/${id}/delete`}
          no="Keep it"
          yes="Delete the package"
        >
          Other appliances can no longer use it either. Images that have it keep it.
        </Confirm>
      </div>
    </li>
  );
};
