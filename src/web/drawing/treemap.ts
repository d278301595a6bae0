/** A part of a whole, drawn as an area. */
export interface Tile<T> {
  item: T;
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Area<T> {
  item: T;
  area: number;
}

interface Room {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * A squarified treemap (Bruls, Huizing, van Wijk): areas by weight, tiles as square as possible, the heaviest first.
 */
export function treemap<T extends { weight: number }>(
  items: readonly T[],
  size: { width: number; height: number },
): Tile<T>[] {
  const weighed = items.filter(({ weight }) => weight > 0).toSorted((left, right) => right.weight - left.weight);
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0);
  const unit = (size.width * size.height) / total;
  const tiles: Tile<T>[] = [];
  let room: Room = { x: 0, y: 0, ...size };
  let row: Area<T>[] = [];
  const lay = () => {
    const laid = layRow(row, room);
    tiles.push(...laid.tiles);
    room = laid.rest;
    row = [];
  };
  for (const item of weighed) {
    const next = { item, area: item.weight * unit };
    const side = Math.min(room.width, room.height);
    if (row.length > 0 && worst([...row, next], side) > worst(row, side)) lay();
    row.push(next);
  }
  if (row.length > 0) lay();
  return tiles;
}

/** Places a row along the shorter side of the room. Returns it with the rest of the room. */
function layRow<T>(row: readonly Area<T>[], room: Room): { tiles: Tile<T>[]; rest: Room } {
  const isUpright = room.width >= room.height;
  const depth = sumOf(row) / (isUpright ? room.height : room.width);
  let at = isUpright ? room.y : room.x;
  const tiles = row.map(({ item, area }): Tile<T> => {
    const length = area / depth;
    const start = at;
    at += length;
    return isUpright
      ? { item, x: room.x, y: start, width: depth, height: length }
      : { item, x: start, y: room.y, width: length, height: depth };
  });
  const rest = isUpright
    ? { ...room, x: room.x + depth, width: room.width - depth }
    : { ...room, y: room.y + depth, height: room.height - depth };
  return { tiles, rest };
}

const sumOf = (row: readonly { area: number }[]): number => row.reduce((sum, { area }) => sum + area, 0);

/** The worst aspect ratio of the tiles in a row along this side. */
function worst(row: readonly { area: number }[], side: number): number {
  const depth = sumOf(row) / side;
  return Math.max(...row.map(({ area }) => Math.max(depth ** 2 / area, area / depth ** 2)));
}
