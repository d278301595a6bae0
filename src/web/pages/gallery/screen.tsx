import type { Publication } from "#storage/publications";
import { Confirm } from "../../parts/dialog.tsx";
import { galleryAt, screenOf } from "./card.tsx";

/** The screen of the booted version, if there is a picture of it. Its publisher may remove it. */
export const Screen = ({ of: publication, isMine }: { of: Publication; isMine: boolean }) => {
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
