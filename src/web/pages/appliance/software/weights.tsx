import { Panel } from "../../../parts/panel.tsx";
import { Bar } from "../../../parts/state.tsx";
import { size } from "../../../parts/words.ts";
import type { ShownSoftware } from "./shown.ts";

const maxShown = 20;

/** Which packages take the most room in the image. */
export const Weights = ({ seen: { resolution } }: { seen: ShownSoftware }) => {
  if (resolution.state !== "solved") return null;
  const largest = resolution.packages
    .toSorted((left, right) => right.installSizeBytes - left.installSizeBytes)
    .slice(0, maxShown);
  const most = Math.max(1, largest[0]?.installSizeBytes ?? 1);
  return (
    <Panel id="weight" title="Size by package" hint={`the largest of ${resolution.packages.length}`}>
      <ul class="weights">
        {largest.map(({ name, installSizeBytes }) => (
          <li>
            <span>{name}</span>
            <span class="num">{size(installSizeBytes)}</span>
            <Bar percent={(100 * installSizeBytes) / most} />
          </li>
        ))}
      </ul>
    </Panel>
  );
};
