import type { Context } from "hono";
import { Arch, ImageType } from "#lib/contract/index";
import type { GalleryOrder, GalleryTraits } from "#storage/gallery-list";
import { pageIn } from "../../parts/pager.tsx";

/** The query in the address of the gallery. */
export interface Asked {
  search: string;
  username: string;
  /**
   * Without an order, a search shows the best matches first, an account's list the newest, and other lists the popular.
   */
  order: GalleryOrder | undefined;
  traits: GalleryTraits;
  at: number;
}

const orders: readonly string[] = ["popular", "latest", "rating"] satisfies readonly GalleryOrder[];
const isOrder = (text: string): text is GalleryOrder => orders.includes(text);

/** Empty and unknown values are ignored. */
export function askedOf(c: Context): Asked {
  const { search = "", username = "", order = "", page: at, base, arch, format, tag } = c.req.query();
  const traits: GalleryTraits = {
    ...(base && { baseSystem: base.slice(0, 100) }),
    ...(Arch.safeParse(arch).success && { arch: Arch.parse(arch) }),
    ...(ImageType.safeParse(format).success && { imageType: ImageType.parse(format) }),
    ...(tag && { tag: tag.slice(0, 100) }),
  };
  return {
    search: search.trim().slice(0, 100),
    username: username.slice(0, 100),
    order: isOrder(order) ? order : undefined,
    traits,
    at: pageIn(at),
  };
}

/** Everything except the page number, as parameters of the address. */
export const addressOf = ({ search, username, order, traits }: Asked): Record<string, string> => ({
  ...(search !== "" && { search }),
  ...(username !== "" && { username }),
  ...(order !== undefined && { order }),
  ...(traits.baseSystem !== undefined && { base: traits.baseSystem }),
  ...(traits.arch !== undefined && { arch: traits.arch }),
  ...(traits.imageType !== undefined && { format: traits.imageType }),
  ...(traits.tag !== undefined && { tag: traits.tag }),
});
