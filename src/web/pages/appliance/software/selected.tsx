import { evr } from "#lib/contract/index";
import type { Selection } from "#storage/appliances";
import { ActionButton, Button } from "../../../parts/button.tsx";
import { Field } from "../../../parts/field.tsx";
import { Form, Hidden, useRefused } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Empty, Panel } from "../../../parts/panel.tsx";
import { size } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";
import type { ShownSoftware } from "./shown.ts";

type Entry = Pick<Selection, "kind" | "name" | "version" | "repositoryId">;

/** The selection, the last added first. */
export const Selected = ({ seen }: { seen: ShownSoftware }) => {
  const chosen = seen.software.selection.filter(({ kind }) => kind !== "ban").toReversed();
  return (
    <Panel
      id="chosen"
      title="Selected"
      count={chosen.length}
      isFlush
      hint="last added first"
      hasFocus={seen.at === "chosen"}
    >
      {chosen.length === 0 ? (
        <Empty title="Nothing is selected" isH3>
          <p>Search for a package, and add it. What it needs comes with it.</p>
        </Empty>
      ) : (
        <ul class="rows tight">
          {chosen.map((entry) => (
            <One entry={entry} seen={seen} />
          ))}
        </ul>
      )}
    </Panel>
  );
};

const pinForm = ({ name }: Entry): string => `pin-${name}`;
const removeForm = ({ kind, name }: Entry): string => `remove-${kind}-${name}`;

const One = ({ entry, seen }: { entry: Entry; seen: ShownSoftware }) => {
  const { kind, name, version, repositoryId } = entry;
  const from = seen.software.repositories.find(({ id }) => id === repositoryId);
  const { resolution } = seen;
  const { packages, patterns } = resolution.state === "solved" ? resolution : { packages: [], patterns: [] };
  const resolved =
    kind === "pattern" ? patterns.find((one) => one.name === name)?.by : packages.find((one) => one.name === name);
  const at = applianceAt(seen.appliance.id, "software");
  return (
    <li>
      <details open={useRefused(at, pinForm(entry)) || useRefused(at, removeForm(entry))}>
        <summary class="line">
          <Icon name={kind === "pattern" ? "layers" : "package"} />
          <span class="grow">
            {kind === "pattern" ? `pattern: ${name}` : name}{" "}
            <span class="quiet num">{resolved ? evr(resolved) : (version ?? "")}</span>{" "}
            {version !== null && <span class="badge">this version</span>}
            {from && <span class="badge">from {from.name}</span>}
          </span>
          {kind === "package" && resolved && <span class="num quiet">{size(resolved.installSizeBytes)}</span>}
          <Icon name="chevron-right" />
        </summary>
        <div class="line-actions row">
          {kind === "package" && <PinForm entry={entry} seen={seen} />}
          <ActionButton
            action={at}
            id={removeForm(entry)}
            fields={{ do: "remove", kind, name, at: "chosen" }}
            look="small"
            icon="x"
            about={name}
            swap="main"
          >
            Remove
          </ActionButton>
        </div>
      </details>
    </li>
  );
};

/** Pins a version. If it is empty, the newest one is used. A repository that the package is pinned to stays. */
const PinForm = ({ entry, seen }: { entry: Entry; seen: ShownSoftware }) => (
  <Form action={applianceAt(seen.appliance.id, "software")} id={pinForm(entry)} class="row" swap="main">
    <Hidden fields={{ do: "add", kind: "package", name: entry.name, at: "chosen" }} />
    {entry.repositoryId !== null && <Hidden fields={{ repository: String(entry.repositoryId) }} />}
    <Field
      name="version"
      label={`Only this version of ${entry.name}`}
      isLabelHidden
      look="short"
      value={entry.version ?? ""}
      also={{ placeholder: "newest" }}
    />
    <Button look="small" icon="pin" about={entry.name}>
      Set version
    </Button>
  </Form>
);

/** Packages that must not be in the image, and a form to add one. */
export const Bans = ({ seen }: { seen: ShownSoftware }) => {
  const banned = seen.software.selection.filter(({ kind }) => kind === "ban");
  const at = applianceAt(seen.appliance.id, "software");
  return (
    <Panel id="bans" title="Never install" count={banned.length} isFlush hasFocus={seen.at === "bans"}>
      <ul class="rows tight">
        {banned.map(({ name }) => (
          <li>
            <div class="line">
              <Icon name="ban" />
              <span class="grow">{name}</span>
              <ActionButton
                action={at}
                fields={{ do: "remove", kind: "ban", name, at: "bans" }}
                look="small plain"
                about={name}
                swap="main"
              >
                Allow
              </ActionButton>
            </div>
          </li>
        ))}
      </ul>
      <Form action={at} id="ban" class="body row" swap="main">
        <Hidden fields={{ do: "add", kind: "ban", at: "bans" }} />
        <Field name="name" label="Package" isLabelHidden also={{ placeholder: "Package" }} />
        <Button look="small" icon="ban">
          Ban
        </Button>
      </Form>
    </Panel>
  );
};
