import { treemap, type Tile } from "../../../drawing/treemap.ts";
import { Panel } from "../../../parts/panel.tsx";
import { WeightList, type Weight } from "../../../parts/weight-list.tsx";
import { size } from "../../../parts/words.ts";
import type { ShownSoftware } from "./shown.ts";

/** The number of packages that have their own tile. */
const maxShown = 24;
const picture = { width: 760, height: 300 };

interface Weighed extends Weight {
  isSelected: boolean;
}

/** Which packages take the most room in the image: a picture, and the same as a list. */
export const Weights = ({ seen: { resolution, software } }: { seen: ShownSoftware }) => {
  if (resolution.state !== "solved") return null;
  const selected = new Set(software.selection.filter(({ kind }) => kind === "package").map(({ name }) => name));
  const all = resolution.packages
    .map(({ name, installSizeBytes }) => ({ name, weight: installSizeBytes, isSelected: selected.has(name) }))
    .toSorted((left, right) => right.weight - left.weight);
  const shown = [...all.slice(0, maxShown), ...othersOf(all.slice(maxShown))];
  return (
    <Panel id="weight" title="Size by package" hint={<Key />} look="stack">
      <Picture shown={shown} />
      <details class="small-text">
        <summary>As a list</summary>
        <WeightList of={shown} />
      </details>
    </Panel>
  );
};

function othersOf(rest: readonly Weighed[]): Weighed[] {
  if (rest.length === 0) return [];
  const weight = rest.reduce((sum, one) => sum + one.weight, 0);
  return [{ name: `${rest.length} others`, weight, isSelected: false }];
}

const Key = () => (
  <span class="key">
    <span class="mine">selected</span>
    <span>dependencies</span>
  </span>
);

const Picture = ({ shown }: { shown: readonly Weighed[] }) => {
  const total = shown.reduce((sum, { weight }) => sum + weight, 0);
  const largest = shown.slice(0, 3).map(({ name, weight }) => `${name} ${size(weight)}`);
  const label = `${size(total)} on disk: ${largest.join(", ")}, and smaller ones. The list below has all.`;
  return (
    <svg class="treemap" viewBox={`0 0 ${picture.width} ${picture.height}`} role="img" aria-label={label}>
      {treemap(shown, picture).map((tile) => (
        <One tile={tile} />
      ))}
    </svg>
  );
};

const One = ({ tile: { item, x, y, width, height } }: { tile: Tile<Weighed> }) => {
  const fits = Math.floor((width - 18) / 8);
  const at = { x: (x + 9).toFixed(1), y: y + 20 };
  return (
    <g class={item.isSelected ? "mine" : undefined}>
      <title>{`${item.name}, ${size(item.weight)}`}</title>
      <rect x={x.toFixed(1)} y={y.toFixed(1)} width={width.toFixed(1)} height={height.toFixed(1)} />
      {fits >= 4 && height >= 26 && (
        <text x={at.x} y={at.y.toFixed(1)}>
          {item.name.length > fits ? `${item.name.slice(0, fits - 1)}…` : item.name}
        </text>
      )}
      {fits >= 6 && height >= 44 && (
        <text class="size" x={at.x} y={(at.y + 16).toFixed(1)}>
          {size(item.weight)}
        </text>
      )}
    </g>
  );
};
