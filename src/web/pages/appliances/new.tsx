import type { Context } from "hono";
import { architectures, arches, type Arch } from "#lib/contract/index";
import { listOffer, preselected, type OfferedBase } from "#domain/appliances/offer";
import { listed } from "#domain/software/problem-words";
import { unimportedWords } from "#model/import-progress";
import { hasAppliances } from "#storage/appliance-overview";
import type { Repository } from "#storage/repositories";
import type { TemplateWithSizes } from "#storage/template-sets";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { Button } from "../../parts/button.tsx";
import { CommandLine } from "../../parts/command-line.tsx";
import { Content } from "../../parts/column.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Form, useForm } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Empty } from "../../parts/panel.tsx";
import { number } from "../../parts/words.ts";
import { withSession } from "../../session.ts";
import { SupportOf } from "./support.tsx";

/** The page to choose a template, name the appliance and create it. */
export const newAppliancePage = factory.createApp().get("/appliances/new", withSession, (c) => showNew(c));

interface Offer {
  bases: readonly OfferedBase[];
  chosen: number | undefined;
  isFirst: boolean;
  baseUrl: string;
}

export async function showNew(c: Context<WebEnv>): Promise<Response> {
  const { db, account, baseUrl } = c.var;
  const [bases, hasOwn] = await Promise.all([listOffer(db), hasAppliances(db, account.id)]);
  const sent = Number(c.var.given?.values["clone_from"]?.[0]);
  const chosen = sent || preselected(bases)?.applianceId;
  const refreshSeconds = bases.some(({ missing }) => missing.length > 0) ? 15 : undefined;
  return await page(c, <New offer={{ bases, chosen, isFirst: !hasOwn, baseUrl }} />, {
    title: "New appliance",
    section: "appliances",
    refreshSeconds,
  });
}

/** Why the templates of a base system cannot be built yet. */
function pendingIn(missing: readonly Repository[]): string | undefined {
  const failed = missing.find(({ problem }) => problem !== null);
  if (failed) return `${failed.name} could not be imported: ${failed.problem}`;
  const importing = unimportedWords(missing);
  return importing && `Still being imported: ${importing}`;
}

const New = ({ offer }: { offer: Offer }) => (
  <Content>
    <div class="stack-l">
      <div class="first">
        <h1>{offer.isFirst ? "What do you want to make?" : "Create an appliance"}</h1>
        <p class="lead quiet">Start from a system that works, then change it. Nothing is built until you say so.</p>
      </div>
      {offer.bases.length === 0 ? (
        <Empty title="There are no templates yet">
          <p>The people who run this service have not loaded any.</p>
        </Empty>
      ) : (
        <NewForm offer={offer} />
      )}
      <CommandLine
        baseUrl={offer.baseUrl}
        lines={["kiln templates", `kiln clone ${offer.chosen ?? "TEMPLATE"} NAME --arch x86_64`]}
      />
    </div>
  </Content>
);

const NewForm = ({ offer }: { offer: Offer }) => (
  <Form action="/appliances" id="new" class="stack-l" once>
    <fieldset class="stack">
      <legend class="as-h2">1. Choose a template</legend>
      {offer.bases.map((base) => (
        <TemplatesOf base={base} chosen={offer.chosen} />
      ))}
    </fieldset>
    <fieldset class="stack">
      <legend class="as-h2">2. Name it</legend>
      <div class="fields narrow">
        <Field name="name" label="Name" hint="Leave it empty to use the template's." also={{ maxlength: 255 }} />
        <Architectures bases={offer.bases} />
      </div>
    </fieldset>
    <div class="row">
      <Button look="primary large">Create appliance</Button>
      <span class="quiet">
        or <a href="/gallery">clone one from the gallery</a>
      </span>
    </div>
  </Form>
);

/** The options that at least one base system offers. The style sheet hides those that the chosen one does not. */
const Architectures = ({ bases }: { bases: readonly OfferedBase[] }) => {
  const offered = arches.filter((arch) => bases.some((base) => base.arches.includes(arch)));
  return (
    <fieldset class="field architectures">
      <legend>Architecture</legend>
      {offered.map((arch, nth) => (
        <div class={`of-${arch}`}>
          <Choice name="arch" value={architectures[arch].name} type="radio" isChecked={nth === 0}>
            {architectures[arch].name}
          </Choice>
        </div>
      ))}
      <ArchitectureFault />
      {offered.map((arch) => (
        <Only arch={arch} bases={bases} />
      ))}
    </fieldset>
  );
};

/** Shows the fault of a group of choices, which has no field that could show it. */
const ArchitectureFault = () => {
  const fault = useForm().given?.faults["arch"];
  return fault === undefined ? null : (
    <span class="wrong">
      <Icon name="circle-x" /> {fault}
    </span>
  );
};

/** Explains why an architecture is not available for every base system. */
const Only = ({ arch, bases }: { arch: Arch; bases: readonly OfferedBase[] }) => {
  const able = bases.filter((base) => base.arches.includes(arch)).map(({ facts }) => facts.title);
  if (able.length === bases.length) return null;
  return (
    <span class="hint">
      {architectures[arch].name}: only {listed(able)} {able.length === 1 ? "has" : "have"} packages for it.
    </span>
  );
};

const TemplatesOf = ({ base, chosen }: { base: OfferedBase; chosen: number | undefined }) => {
  const pending = pendingIn(base.missing);
  const today = new Date().toISOString().slice(0, 10);
  return (
    <div class="stack-s">
      <h2 class="as-h3">{base.facts.title}</h2>
      <SupportOf facts={base.facts} today={today} />
      {pending !== undefined && (
        <Notice tone="warn">{pending}. You can begin now; it can be built when that is done.</Notice>
      )}
      <div class="tiles wide-tiles">
        {base.templates.map((template) => (
          <Tile template={template} arches={base.arches} isChosen={template.applianceId === chosen} />
        ))}
      </div>
    </div>
  );
};

interface TileProps {
  template: TemplateWithSizes;
  arches: readonly Arch[];
  isChosen: boolean;
}

/** Converts the service's megabytes of 1024 × 1024 bytes into decimal ones, which all other sizes on the pages use. */
const decimalMegabytes = (mebibytes: number): string => `${number(Math.round((mebibytes * 1024 ** 2) / 1e6))} MB`;

const Tile = ({ template, arches: served, isChosen }: TileProps) => (
  <label class="tile template">
    <input
      type="radio"
      name="clone_from"
      value={String(template.applianceId)}
      checked={isChosen}
      data-arches={served.join(" ")}
      required
    />
    <span>
      <b>{template.name}</b>
      <br />
      <span class="sub">{template.description}</span>
      <br />
      <span class="sub">
        <span class="num">Download about {decimalMegabytes(template.downloadMb)}</span>,{" "}
        <span class="num">disk {decimalMegabytes(template.diskMb)}</span>
      </span>
    </span>
  </label>
);
