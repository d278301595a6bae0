import type { ListedPublication } from "#storage/gallery-list";
import { FixableAdvisories } from "../../parts/advisory-summary.tsx";
import { Picture, vesselOf } from "../../parts/picture.tsx";
import { Rating } from "../../parts/rating.tsx";
import { TypeBadge } from "../../parts/state.tsx";
import { size } from "../../parts/words.ts";
import { UsesOf } from "./uses.tsx";
import { TryAndClone } from "./actions.tsx";

export const galleryAt = (id: number, version = ""): string => `/gallery/${id}${version === "" ? "" : `/${version}`}`;

/** The address of the published logo, or of the vessel that is shown instead. */
export const publishedPicture = ({
  applianceId,
  logoBlob,
}: Pick<ListedPublication, "applianceId" | "logoBlob">): string =>
  logoBlob === null ? vesselOf(applianceId) : `${galleryAt(applianceId)}/logo?${logoBlob.slice(0, 8)}`;

/** The address of the picture of its screen. A new picture has a new address. */
export const screenOf = ({
  applianceId,
  version,
  screenBlob,
}: Pick<ListedPublication, "applianceId" | "version"> & { screenBlob: string }): string =>
  `${galleryAt(applianceId, version)}/screen?${screenBlob.slice(0, 8)}`;

interface CardProps {
  entry: ListedPublication;
  isSignedIn: boolean;
  isMine: boolean;
}

/** A published appliance as an entry of a list. */
export const Card = ({ entry, isSignedIn, isMine }: CardProps) => {
  const { applianceId, name, username, description, averageRating, ratings, downloadBytes, imageTypes } = entry;
  return (
    <li class="card">
      <div class="wall">
        {entry.screenBlob === null ? (
          <Picture src={publishedPicture(entry)} />
        ) : (
          <img class="screen" src={screenOf({ ...entry, screenBlob: entry.screenBlob })} alt="" loading="lazy" />
        )}
      </div>
      <div class="body">
        <h3>
          <a href={galleryAt(applianceId)}>{name}</a>
        </h3>
        <p class="by cut">
          by <a href={`/gallery?${new URLSearchParams({ username })}`}>{entry.publisher}</a>
        </p>
        <p class="what">{description}</p>
        <p class="meta">
          <Rating average={averageRating ?? 0} count={ratings} />
          {downloadBytes !== null && (
            <span class="sub num push">
              <span class="hidden">Download: </span>
              {size(downloadBytes)}
            </span>
          )}
        </p>
        {entry.advisories && entry.advisories.fixed > 0 && (
          <p class="meta">
            <FixableAdvisories counts={entry.advisories} />
          </p>
        )}
        <p class="meta uses">
          <UsesOf uses={entry} />
        </p>
        <p class="meta">
          <span class="hidden">Formats: </span>
          {(imageTypes ?? "").split(" ").map((type) => (
            <TypeBadge type={type} />
          ))}
        </p>
      </div>
      <div class="foot-row">
        <TryAndClone of={entry} canClone={entry.publicClonable === 1 || isMine} isSignedIn={isSignedIn} />
      </div>
    </li>
  );
};
