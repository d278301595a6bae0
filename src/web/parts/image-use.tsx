import { imageUse, type Way } from "#lib/contract/index";
import type { Build } from "#storage/builds";
import { CopyButton } from "./button.tsx";

/** Describes the file of an image, and shows the commands that start it. */
export const ImageUse = ({ build }: { build: Pick<Build, "id" | "imageType" | "fileName"> }) => {
  const { id, imageType, fileName } = build;
  if (fileName === null) return null;
  const { what, ways } = imageUse({ imageType, fileName });
  return (
    <details class="use">
      <summary>How to start {fileName}</summary>
      <div class="stack-s">
        <p>{what}</p>
        {ways.map((way, at) => (
          <Lines way={way} id={`use-${id}-${at}`} />
        ))}
      </div>
    </details>
  );
};

const Lines = ({ way: { title, note, lines }, id }: { way: Way; id: string }) => (
  <div class="way">
    <p class="named">
      <b>{title}</b> <CopyButton of={id} words="Copy" look="small plain" about={title} />
    </p>
    {note !== undefined && <p class="quiet">{note}</p>}
    <pre class="lines wraps" id={id}>
      {lines.join("\n")}
    </pre>
  </div>
);
