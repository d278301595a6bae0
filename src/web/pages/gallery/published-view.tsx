import type { Publication } from "#storage/publications";
import { Content } from "../../parts/column.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Day } from "../../parts/moment.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Picture } from "../../parts/picture.tsx";
import { Rating } from "../../parts/rating.tsx";
import { TryAndClone } from "./actions.tsx";
import type { Published } from "./published.ts";
import { UsesOf } from "./uses.tsx";
import { galleryAt, publishedPicture, screenOf } from "./card.tsx";
import { Comments } from "./comments.tsx";
import { About, RateIt, Software } from "./published-facts.tsx";
import { Channels, Images, Notes } from "./published-version.tsx";

export const PublishedView = ({ published }: { published: Published }) => {
  const { publication, rating, uses, person, wanted } = published;
  const isMine = person?.account.id === publication.accountId;
  return (
    <Content>
      <div class="stack-l">
        {person && wanted !== undefined && <Welcome wanted={wanted} />}
        <div class="title">
          <Picture src={publishedPicture(publication)} />
          <div>
            <h1>{publication.name}</h1>
            <Byline publication={publication} />
            <p class="row">
              <Rating average={rating.average ?? 0} count={rating.count} />
              {uses && <UsesOf uses={uses} />}
            </p>
          </div>
          <div class="row">
            <TryAndClone
              of={publication}
              canClone={publication.publicClonable || isMine}
              isSignedIn={person !== undefined}
              isLarge
            />
          </div>
        </div>
        <div class="split">
          <div class="stack-l">
            {publication.description !== "" && <p class="prose breaks">{publication.description}</p>}
            <Notes published={published} />
            <Images published={published} />
            <Channels published={published} />
            <Comments published={published} />
          </div>
          <aside class="stack" aria-label="About this appliance">
            <Screen of={publication} isMine={isMine} />
            <About published={published} />
            <Software publication={publication} />
            <RateIt published={published} />
          </aside>
        </div>
      </div>
    </Content>
  );
};

const Byline = ({ publication: { version, username, publisher, publishedAt } }: Pick<Published, "publication">) => (
  <p class="quiet">
    Version {version} by <a href={`/gallery?${new URLSearchParams({ username })}`}>{publisher}</a>, published{" "}
    <Day at={publishedAt} />
  </p>
);

/** After signing in, the person still has to click, because opening a page must not start anything. */
const Welcome = ({ wanted }: { wanted: string }) => (
  <Notice tone="good">
    You are signed in. {wanted === "clone" ? "Press Clone to make it yours." : "Press Try it to start the testdrive."}
  </Notice>
);

/** The screen of the booted version, if there is a picture of it. Its publisher may remove it. */
const Screen = ({ of: publication, isMine }: { of: Publication; isMine: boolean }) => {
  const { applianceId, version, screenBlob } = publication;
  if (screenBlob === null) return null;
  return (
    <figure class="panel flush" id="screen">
      <img class="screen" src={screenOf({ applianceId, version, screenBlob })} alt="The screen after booting" />
      <figcaption class="body sub row spread">
        <span>The screen after booting</span>
        {isMine && (
          <Confirm
            id="remove-screen"
            words="Remove"
            about="the picture of the screen"
            look="small plain"
            title="Remove the picture?"
            action={`${galleryAt(applianceId, version)}/screen/remove`}
            no="Keep it"
            yes="Remove the picture"
          >
            Version {version} gets no other one.
          </Confirm>
        )}
      </figcaption>
    </figure>
  );
};
