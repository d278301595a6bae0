import { shownPermissions } from "#lib/contract/file-mode";
import { overlayPath } from "#domain/contents/overlay-file-metadata";
import type { OverlayFile } from "#storage/overlay-files";
import { Button, ButtonLink } from "../../../parts/button.tsx";
import { Confirm, useConfirmRefused } from "../../../parts/dialog.tsx";
import { Choice, Field } from "../../../parts/field.tsx";
import { Form, Hidden, useRefused } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Empty, Panel } from "../../../parts/panel.tsx";
import { size } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";
import { maxTextBytes } from "./content.ts";
import { Whose } from "./whose.tsx";

/** The maximum for one form. */
export const maxFiles = 50;

interface FilesProps {
  applianceId: number;
  files: readonly OverlayFile[];
}

export const FilesView = ({ applianceId, files }: FilesProps) => (
  <div class="split">
    <Panel id="files" title="Files" count={files.length} isFlush hint="copied in this order">
      {files.length === 0 ? (
        <Empty title="No files yet" isH3>
          <p>Builds copy these into the image, after the packages.</p>
        </Empty>
      ) : (
        <ul class="rows">
          {files.map((file) => (
            <One file={file} applianceId={applianceId} />
          ))}
        </ul>
      )}
    </Panel>
    <div class="stack">
      <Upload applianceId={applianceId} />
      <FromWeb applianceId={applianceId} />
    </div>
  </div>
);

const deleteId = ({ id }: OverlayFile): string => `delete-${id}`;

const One = ({ file, applianceId }: { file: OverlayFile; applianceId: number }) => {
  const path = overlayPath(file);
  const action = applianceAt(applianceId, `files/${file.id}`);
  return (
    <li>
      <details open={useRefused(action, `file-${file.id}`) || useConfirmRefused(action, deleteId(file))}>
        <summary class="line">
          <Icon name="file" />
          <span class="grow breaks">
            {path} {!file.enabled && <span class="badge">off</span>}
          </span>
          <code class="quiet">{shownPermissions(file.permissions)}</code>
          <span class="quiet">
            {file.owner}:{file.group}
          </span>
          <span class="num quiet">{size(file.size)}</span>
          <Icon name="chevron-right" />
        </summary>
        <div class="body">
          <FileForm file={file} action={action} />
          <Confirm
            id={deleteId(file)}
            title={`Delete ${path}?`}
            action={action}
            fields={{ do: "delete" }}
            no="Keep it"
            yes="Delete the file"
          >
            Images that have it keep it.
          </Confirm>
        </div>
      </details>
    </li>
  );
};

const FileForm = ({ file, action }: { file: OverlayFile; action: string }) => (
  <Form action={action} id={`file-${file.id}`} class="stack" countsUnsaved>
    <Hidden fields={{ do: "change" }} />
    <div class="fields">
      <Field name="path" label="Directory" value={file.path} />
      <Field name="filename" label="Name" value={file.fileName} />
    </div>
    <Whose owner={file.owner} group={file.group} mode={shownPermissions(file.permissions)} />
    <Choice name="enabled" value="true" isChecked={file.enabled} isSwitch>
      Builds copy it
    </Choice>
    <div class="row">
      <Button look="small" icon="check" about={overlayPath(file)}>
        Save
      </Button>
      {file.size <= maxTextBytes && (
        <ButtonLink href={`${action}/text`} look="small plain" icon="pencil" about={overlayPath(file)}>
          Edit the text
        </ButtonLink>
      )}
      <ButtonLink href={`/files/${file.id}`} look="small plain" icon="download" about={overlayPath(file)} isDownload>
        Download
      </ButtonLink>
      <button class="button small plain danger" type="button" popovertarget={deleteId(file)}>
        <Icon name="trash-2" /> Delete …<span class="hidden"> {overlayPath(file)}</span>
      </button>
      <span class="hint" role="status" data-unsaved-count="" />
    </div>
  </Form>
);

const Upload = ({ applianceId }: { applianceId: number }) => (
  <Panel id="upload" title="Upload">
    <Form action={applianceAt(applianceId, "files")} id="upload-file" class="stack drop" once hasFile upload="main">
      <Field name="path" label="Directory in the image" value="/" />
      <Whose />
      <Field
        name="file"
        label="Files"
        type="file"
        hint={`Or drop them here, at most ${maxFiles} at a time.`}
        also={{ multiple: true }}
        required
      />
      <div class="row">
        <Button icon="upload">Upload</Button>
        <ButtonLink href={applianceAt(applianceId, "files/new")} look="plain" icon="pencil">
          Write a text file
        </ButtonLink>
      </div>
    </Form>
  </Panel>
);

const FromWeb = ({ applianceId }: { applianceId: number }) => (
  <Panel id="from-web" title="From the web">
    <Form action={applianceAt(applianceId, "files/from_web")} id="web-file" class="stack" once>
      <Field name="url" label="Address" type="url" also={{ placeholder: "https://" }} />
      <Field name="path" label="Directory in the image" value="/" />
      <Button icon="download">Fetch</Button>
    </Form>
  </Panel>
);
