import type { Child } from "hono/jsx";
import { imageFormats } from "#lib/contract/index";
import type { Look } from "#domain/appliances/look";
import { configurationOf } from "#lib/configuration/stored";
import type { Appliance } from "#storage/appliances";
import { Button } from "../../parts/button.tsx";
import { Form, Hidden } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Picture } from "../../parts/picture.tsx";
import { State } from "../../parts/state.tsx";
import { number, signed, size } from "../../parts/words.ts";
import type { Result } from "../../result.ts";
import { NotOffered, offeredTypes } from "./builds/offered-types.tsx";
import { pictureOf } from "./pictures.ts";
import { factsOf, stateOf, type StateFacts } from "./state-of.tsx";
import { Tabs, type Tab } from "./tabs.tsx";
import { applianceAt } from "./with-appliance.ts";

interface HeadProps {
  look: Look;
  tab: Tab;
  isOwn: boolean;
  /** The changes by the form that was just sent. */
  change: Change | undefined;
}

type Change = Result["change"];

/** The head of each page of an appliance: its name, its state, and the button that builds it. */
export const Head = ({ look, tab, isOwn, change }: HeadProps) => {
  const { appliance } = look;
  return (
    <header class="appliance-head">
      <div class="wrap">
        <div class="who">
          <Picture src={pictureOf(appliance)} look="small" />
          <div>
            <h1 id="appliance-title">
              {appliance.name} <span>{appliance.version}</span>
            </h1>
            {isOwn ? (
              <StateNow facts={factsOf(look)} />
            ) : (
              <StatusLine>
                <State icon="eye">You can view and clone</State>
              </StatusLine>
            )}
          </div>
          <Figures look={look} change={change} />
          {isOwn ? <BuildButton look={look} tab={tab} /> : <CloneButton id={appliance.id} />}
        </div>
        {isOwn && <Tabs appliance={appliance} tab={tab} running={look.running} />}
      </div>
    </header>
  );
};

/** The state of one's own appliance. */
export const StateNow = ({ facts }: { facts: StateFacts }) => {
  const { tone, icon, words } = stateOf(facts);
  return (
    <StatusLine>
      <State tone={tone} icon={icon}>
        {words}
      </State>
    </StatusLine>
  );
};

const StatusLine = ({ children }: { children: Child }) => (
  <p class="row" id="status" role="status">
    {children}
  </p>
);

/** The sizes of the last image, if the appliance is unchanged since then. Otherwise an estimate for a new build. */
const Figures = ({ look: { appliance, packages, images }, change }: Pick<HeadProps, "look" | "change">) => {
  const { imageType, lastEditedAt } = appliance;
  const built = images.find((image) => image.imageType === imageType && lastEditedAt <= image.createdAt);
  return (
    <dl class="figures" id="size">
      {packages !== null && (
        <div>
          <dt>Packages</dt>
          <dd>
            {number(packages)}
            {change && change.packages !== 0 && <Changed words={signed(change.packages, number)} />}
          </dd>
        </div>
      )}
      {built ? (
        <>
          <Megabytes words={`Disk, ${built.version}`} bytes={built.rawSize ?? 0} />
          <Megabytes words={`Download, ${built.version}`} bytes={built.fileSize ?? 0} />
        </>
      ) : (
        <Estimated appliance={appliance} change={change} />
      )}
    </dl>
  );
};

/**
 * The size of the software is estimated. A disk has the size that its owner has chosen, and the rest of it is empty.
 */
const Estimated = ({ appliance, change }: { appliance: Appliance; change: Change }) => {
  const { imageType, estimatedRawMb, estimatedCompressedMb } = appliance;
  const { diskSizeMb } = configurationOf(appliance).settings;
  return (
    <>
      <Megabytes words="Software, about" bytes={estimatedRawMb * mebi} changed={change?.installedBytes} />
      {imageFormats[imageType].product === "disk" && <Megabytes words="Disk" bytes={diskSizeMb * mebi} />}
      <Megabytes words="Download, about" bytes={estimatedCompressedMb * mebi} />
    </>
  );
};

const mebi = 1024 ** 2;

const Megabytes = ({ words, bytes, changed = 0 }: { words: string; bytes: number; changed?: number | undefined }) => (
  <div>
    <dt>{words}</dt>
    <dd>
      {number(Math.round(bytes / 1e6))} <small>MB</small>
      {changed !== 0 && <Changed words={signed(changed, size)} />}
    </dd>
  </div>
);

const Changed = ({ words }: { words: string }) => (
  <small class="changed">
    {" "}
    {words}
    <span class="hidden"> by the last change</span>
  </small>
);

/** Pages whose own button is the primary one. */
const tabsWithPrimary: readonly Tab[] = ["build", "share"];

/** The default format first; the others are in the menu. */
const BuildButton = ({ look, tab }: { look: Look; tab: Tab }) => {
  const { id, version, imageType } = look.appliance;
  const emphasis = tabsWithPrimary.includes(tab) ? "" : "primary";
  const why = factsOf(look).errors > 0 ? "status" : undefined;
  return (
    <div class="joined build" id="build-button">
      <Form action={applianceAt(id, "builds")} once showsFaults={false}>
        <Hidden fields={{ image_type: imageType }} />
        <Button look={emphasis} icon="hammer" disabledBy={why}>
          Build {imageType}
        </Button>
      </Form>
      <button
        class={`button ${emphasis} square`}
        type="button"
        popovertarget="formats"
        aria-label="Build other formats"
        disabled={why !== undefined}
      >
        <Icon name="chevron-down" />
      </button>
      <div class="menu" id="formats" popover="auto">
        <Form action={applianceAt(id, "builds")} class="body stack" once showsFaults={false}>
          <fieldset>
            <legend>Build version {version} as</legend>
            {offeredTypes(look.base).map((format) => (
              <label class="choice">
                <input type="checkbox" name="image_type" value={format} checked={format === imageType} />{" "}
                <span>
                  <code>{format}</code> <span class="quiet">{imageFormats[format].label}</span>
                </span>
              </label>
            ))}
            <NotOffered base={look.base} />
          </fieldset>
          <Button>Build</Button>
        </Form>
      </div>
    </div>
  );
};

const CloneButton = ({ id }: { id: number }) => (
  <div class="build">
    <Form action="/appliances" once>
      <Hidden fields={{ clone_from: id }} />
      <Button look="primary" icon="copy">
        Clone
      </Button>
    </Form>
  </div>
);
