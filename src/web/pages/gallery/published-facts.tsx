import type { Arch } from "#lib/contract/index";
import { firmwareOfBuild } from "#domain/images/firmware";
import type { PublishedItem } from "#model/published";
import type { Build } from "#storage/builds";
import type { CheckRun } from "#storage/check-runs";
import type { Publication } from "#storage/publications";
import { star } from "../../sprite.ts";
import { AdvisorySummary } from "../../parts/advisory-summary.tsx";
import { Button, CopyButton } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import { Day } from "../../parts/moment.tsx";
import { Facts, Panel } from "../../parts/panel.tsx";
import { WeightList } from "../../parts/weight-list.tsx";
import { bootWords, counted, loginWords, number } from "../../parts/words.ts";
import { signInTo } from "../../session.ts";
import type { Published } from "./published.ts";
import { galleryAt } from "./card.tsx";

/** The base of the version, its users, and links. */
export const About = ({
  published: { publication, images, proof, advisories, base, baseUrl },
}: {
  published: Published;
}) => {
  const { definition, arch, homepage, tags } = publication;
  return (
    <section class="panel" aria-labelledby="facts">
      <h2 class="hidden" id="facts">
        Facts
      </h2>
      <Facts
        of={[
          ["Base", base],
          ["Architecture", arch],
          ["Boots by", bootWordsOf(arch, images)],
          ["Checked", proof && <Proof of={proof} />],
          ["Advisories", advisories && <AdvisorySummary counts={advisories} />],
          ["Memory", `${number(definition.configuration.settings.memorySizeMb)} MB`],
          ["Log in as", definition.accounts.map(loginWords).join("; ")],
          ["Website", homepage !== "" && <Website address={homepage} />],
          ["Tags", tags.length > 0 && <Tags of={tags} />],
          ["Link", <ShareLink url={`${baseUrl}${galleryAt(publication.applianceId, publication.version)}`} />],
          ["News", <a href={`${galleryAt(publication.applianceId)}/feed`}>Atom feed</a>],
        ]}
      />
    </section>
  );
};

/** When it was checked that the images boot, and how long that took. */
const Proof = ({ of: { endedAt, createdAt, loginSeconds } }: { of: CheckRun }) => (
  <>
    it boots, on <Day at={endedAt ?? createdAt} />
    {loginSeconds !== null && `, login after ${Math.round(loginSeconds)} s`}
  </>
);

/** How the images boot, stated only once if all boot the same way. */
function bootWordsOf(arch: Arch, images: readonly Build[]): string {
  const ways = Map.groupBy(images, ({ imageType, ...image }) => bootWords({ arch, imageType }, firmwareOfBuild(image)));
  if (ways.size <= 1) return [...ways.keys()].join("");
  return [...ways].map(([words, of]) => `${words} (${of.map(({ imageType }) => imageType).join(", ")})`).join("; ");
}

/** Each tag links to the appliances that have it. */
const Tags = ({ of: tags }: { of: readonly string[] }) => (
  <>
    {tags.map((tag, at) => (
      <>
        {at > 0 && ", "}
        <a href={`/gallery?${new URLSearchParams({ tag })}`}>{tag}</a>
      </>
    ))}
  </>
);

/** The address of this version, to share. */
const ShareLink = ({ url }: { url: string }) => (
  <span class="row">
    <span class="breaks" id="share-link">
      {url}
    </span>
    <CopyButton of="share-link" words="Copy link" look="small plain" />
  </span>
);

/** The publisher's website. It is a link only if it is a web address. */
const Website = ({ address }: { address: string }) =>
  /^https?:\/\//i.test(address) ? (
    <a href={address} rel="nofollow ugc noopener noreferrer">
      {address.replace(/^https?:\/\//i, "")}
    </a>
  ) : (
    <>{address}</>
  );

const shownPackages = 5;

/** The largest packages, the most recently selected ones (which rarely come from the template), and all of them. */
export const Software = ({ publication: { software } }: { publication: Publication }) => {
  const packages = software.installed.filter(({ kind }) => kind === "package");
  return (
    <Panel id="software" title="Software" hint={<span class="num">{counted(packages.length, "package")}</span>}>
      <Largest of={packages} />
      <div class="stack-s push-top">
        <h3>Selected last</h3>
        <ul class="small-text stack-s">
          {software.selected
            .toReversed()
            .slice(0, shownPackages)
            .map(({ name, version }) => (
              <li class="row spread">
                <span class="cut">{name}</span> <span class="quiet num">{version}</span>
              </li>
            ))}
        </ul>
      </div>
      <details class="push-top small-text">
        <summary>All {counted(packages.length, "package")}</summary>
        <p class="breaks mono">{packages.map(({ name, version }) => `${name} ${version}`).join("\n")}</p>
      </details>
    </Panel>
  );
};

/** Omitted if the sizes are unknown. */
const Largest = ({ of: packages }: { of: readonly PublishedItem[] }) => {
  const weighed = packages.flatMap(({ name, bytes }) => (bytes === undefined ? [] : [{ name, weight: bytes }]));
  const shown = weighed.toSorted((left, right) => right.weight - left.weight).slice(0, shownPackages);
  return <WeightList of={shown} />;
};

/** The person's own rating. The list does not count publishers' ratings of their own appliances. */
export const RateIt = ({ published: { publication, ownRating, person } }: { published: Published }) => {
  const at = galleryAt(publication.applianceId);
  return (
    <section class="panel" aria-labelledby="rate">
      <h2 id="rate" class="as-h3">
        Your rating
      </h2>
      {person ? (
        <Form action={`${at}/rating`} class="row">
          <fieldset class="row rate">
            <legend class="hidden">Stars</legend>
            {[1, 2, 3, 4, 5].map((stars) => (
              <Star stars={stars} isChecked={stars === ownRating} />
            ))}
          </fieldset>
          <Button look="small">Rate</Button>
        </Form>
      ) : (
        <p class="small-text">
          <a href={signInTo(at)}>Sign in</a> to rate it.
        </p>
      )}
    </section>
  );
};

const Star = ({ stars, isChecked }: { stars: number; isChecked: boolean }) => (
  <label>
    <input class="hidden" type="radio" name="rating" value={String(stars)} checked={isChecked} required />
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <path d={star} />
    </svg>
    <span class="hidden">{counted(stars, "star")}</span>
  </label>
);
