import { productOf } from "#lib/contract/index";
import type { Glance } from "#domain/appliances/overview";
import type { Child } from "hono/jsx";
import { FixableAdvisories } from "../../parts/advisory-summary.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { useOnce } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { IconName } from "../../parts/icon-names.ts";
import { Menu, MenuLink } from "../../parts/menu.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Picture } from "../../parts/picture.tsx";
import { Progress, State } from "../../parts/state.tsx";
import { counted, cut, secondsLeft, size } from "../../parts/words.ts";
import { pictureOf } from "../appliance/pictures.ts";
import { stateOf } from "../appliance/state-of.tsx";
import { applianceAt } from "../appliance/with-appliance.ts";
import { chosenForm } from "./chosen.tsx";

interface RowProps {
  glance: Glance;
  /** The labels of the base systems, by name. */
  titles: ReadonlyMap<string, string>;
  isChosen: boolean;
}

/** An appliance in the list: its name, its state, its last build, and the next action. */
export const ApplianceRow = ({ glance, titles, isChosen }: RowProps) => {
  const { appliance } = glance;
  return (
    <li id={`appliance-${appliance.id}`}>
      <input
        type="checkbox"
        name="appliance"
        value={String(appliance.id)}
        form={chosenForm}
        checked={isChosen}
        aria-label={`Choose ${appliance.name}`}
        data-stays=""
      />
      <Picture src={pictureOf(appliance)} look="small" />
      <div>
        <h2>
          <a href={applianceAt(appliance.id)}>{appliance.name}</a>
        </h2>
        <p class="sub">
          {appliance.version} · {titles.get(appliance.baseSystem) ?? appliance.baseSystem}, {appliance.arch}
        </p>
      </div>
      <div class="at">
        <StateAt glance={glance} />
      </div>
      <div class="at">
        <LastBuild glance={glance} />
        <SecurityUpdates glance={glance} />
        <FixedAdvisories glance={glance} />
      </div>
      <div class="quick">
        <Next glance={glance} />
        <More glance={glance} />
      </div>
    </li>
  );
};

const StateAt = ({ glance }: { glance: Glance }) => {
  const { appliance, state, running, text } = glance;
  const [build] = running;
  if (state === "unknown") return <State icon="clock">Being checked</State>;
  const { tone, icon, words } = stateOf(glance);
  return (
    <>
      <State tone={tone} icon={icon}>
        {words}
      </State>
      {build?.state === "running" && <Progress percent={build.percent} label={`Build of ${appliance.name}`} isThin />}
      {text !== "" && build?.state !== "running" && <p class="sub clamped">{inShort(text)}</p>}
    </>
  );
};

/** The first sentence, without libsolv's proposals, because only the appliance's own page has room for those. */
const inShort = (text: string): string => cut(text.split(/ \(possible: |(?<=\.)\s/)[0] ?? text, 90);

const LastBuild = ({ glance: { running, lastBuild, images } }: { glance: Glance }) => {
  const [build] = running;
  if (build?.state === "running") {
    return (
      <>
        <span class="small-text">
          {build.imageType}: {build.message}
        </span>
        {build.secondsLeft !== undefined && (
          <>
            <br />
            <span class="sub num">{secondsLeft(build.secondsLeft)}</span>
          </>
        )}
      </>
    );
  }
  if (!lastBuild) return <span class="sub">Never built</span>;
  const { status, completedAt, message } = lastBuild;
  if (status !== "finished") {
    return (
      <>
        <State tone="bad">Build {status === "cancelled" ? "cancelled" : "failed"}</State>
        <br />
        <span class="sub">{message}</span>
      </>
    );
  }
  const bytes = images.length === 1 ? images[0]?.fileSize : undefined;
  return (
    <>
      <span class="small-text">Built {completedAt && <Moment at={completedAt} />}</span>
      <br />
      <span class="sub num">
        {images.length > 2 ? counted(images.length, "format") : images.map(({ imageType }) => imageType).join(", ")}
        {bytes !== undefined && bytes !== null && `, ${size(bytes)}`}
      </span>
    </>
  );
};

/** How many security updates the image lacks, as a link to their list. */
const SecurityUpdates = ({ glance: { appliance, outdated } }: { glance: Glance }) =>
  !outdated || outdated.security === 0 ? null : (
    <>
      <br />
      <a class="small-text" href={`${applianceAt(appliance.id, "build")}#done`}>
        <State tone="warn">{counted(outdated.security, "security update")}</State>
      </a>
    </>
  );

/** How many advisories an update fixes, as a link to their list. */
const FixedAdvisories = ({ glance: { appliance, advisories } }: { glance: Glance }) =>
  !advisories || advisories.fixed === 0 ? null : (
    <>
      <br />
      <a class="small-text" href={`${applianceAt(appliance.id, "build")}#done`}>
        <FixableAdvisories counts={advisories} />
      </a>
    </>
  );

/** The next action: watch, try, fix or build. */
const Next = ({ glance: { appliance, running, images, errors } }: { glance: Glance }) => {
  const about = `: ${appliance.name}`;
  const image = images.find(({ imageType }) => productOf(imageType).startsAlone);
  if (running.length > 0) {
    return (
      <ButtonLink href={applianceAt(appliance.id, "build")} look="small" icon="scroll-text" about={about}>
        <span class="words">Watch</span>
      </ButtonLink>
    );
  }
  if (image) {
    return (
      <Act at="/testdrives" name="build_id" value={String(image.id)} look="button small" icon="play">
        <span class="words">Testdrive</span>
        <span class="hidden"> {about}</span>
      </Act>
    );
  }
  if (errors > 0) {
    return (
      <ButtonLink href={applianceAt(appliance.id)} look="small" icon="wrench" about={about}>
        <span class="words">Fix</span>
      </ButtonLink>
    );
  }
  const at = applianceAt(appliance.id, "builds");
  return (
    <Act at={at} name="image_type" value={appliance.imageType} look="button small" icon="hammer">
      <span class="words">Build</span>
      <span class="hidden"> {about}</span>
    </Act>
  );
};

interface ActProps {
  /** An address for an action that must happen only once. The default is the form's address. */
  at?: string;
  name: string;
  value: string;
  look: string;
  icon: IconName;
  children: Child;
}

/** A button of the form that all rows share, because a form for each would be most of the page. */
const Act = ({ at, name, value, look, icon, children }: ActProps) => (
  <button class={look} form={chosenForm} formaction={at && onceAt(at)} name={name} value={value}>
    <Icon name={icon} /> {children}
  </button>
);

const onceAt = (at: string): string => `${at}${at.includes("?") ? "&" : "?"}once=${useOnce()}`;

const More = ({ glance: { appliance } }: { glance: Glance }) => {
  const { id, name, arch } = appliance;
  return (
    <>
      <Menu id={`more-${id}`} look="small square plain" icon="ellipsis" label={`More for ${name}`}>
        <MenuLink href={applianceAt(id, "software")} icon="package">
          Software
        </MenuLink>
        <MenuLink href={applianceAt(id, "configuration/general")} icon="settings-2">
          Configuration
        </MenuLink>
        <li>
          <Act at={`/appliances?arch=${arch}`} name="clone_from" value={String(id)} look="item" icon="copy">
            Clone
          </Act>
        </li>
        <li>
          <hr />
        </li>
        <li>
          <Act name="act" value={`delete ${id}`} look="item" icon="trash-2">
            Delete …
          </Act>
        </li>
      </Menu>
    </>
  );
};
