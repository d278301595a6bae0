import { describe, expect, it } from "vitest";
import { treemap } from "../../../src/web/drawing/treemap.ts";

const size = { width: 760, height: 300 };

describe("a treemap", () => {
  it("fills the picture with areas as the weights, the heaviest first", () => {
    const weights = [3, 50, 1, 20, 20, 6, 0, 0.001];
    const tiles = treemap(
      weights.map((weight) => ({ weight })),
      size,
    );

    expect(tiles.map(({ item }) => item.weight)).toEqual([50, 20, 20, 6, 3, 1, 0.001]);
    const unit = (size.width * size.height) / 100.001;
    for (const { item, width, height } of tiles) expect(width * height).toBeCloseTo(item.weight * unit, 3);
    for (const { x, y, width, height } of tiles) {
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(size.width + 1e-6);
      expect(y + height).toBeLessThanOrEqual(size.height + 1e-6);
    }
  });

  it("has tiles that do not overlap, near squares where the weights allow it", () => {
    const tiles = treemap(
      Array.from({ length: 40 }, (_, index) => ({ weight: 40 - index })),
      size,
    );
    const overlap = tiles.flatMap((one, index) =>
      tiles.slice(index + 1).filter((other) => {
        const wide = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
        const high = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
        return wide > 1e-6 && high > 1e-6;
      }),
    );
    expect(overlap).toEqual([]);
    const shapes = tiles.map(({ width, height }) => Math.max(width / height, height / width));
    expect(Math.max(...shapes)).toBeLessThan(4);
  });

  it("is empty of nothing", () => {
    expect(treemap([], size)).toEqual([]);
    expect(treemap([{ weight: 0 }], size)).toEqual([]);
  });
});
