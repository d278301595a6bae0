import { Bar } from "./state.tsx";
import { size } from "./words.ts";

export interface Weight {
  name: string;
  /** The size in bytes. */
  weight: number;
}

/** Sizes with bars, the largest first. */
export const WeightList = ({ of: weights }: { of: readonly Weight[] }) =>
  weights.length === 0 ? null : (
    <ul class="weights">
      {weights.map(({ name, weight }) => (
        <li>
          <span class="breaks">{name}</span>
          <span class="num">{size(weight)}</span>
          <Bar percent={(100 * weight) / Math.max(1, weights[0]?.weight ?? 1)} />
        </li>
      ))}
    </ul>
  );
