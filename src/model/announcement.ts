import type { EventName } from "#model/event-names";

/** The state of the object that has changed, as receivers get it. */
type EventSubject =
  | {
      build: {
        id: number;
        appliance_id: number;
        name: string;
        version: string;
        image_type: string;
        state: string;
        message: string;
      };
    }
  | { testdrive: { id: number; build_id: number; state: string; message: string } }
  | { version: { appliance_id: number; name: string; version: string } }
  | { channel: { appliance_id: number; name: string; channel: string; version: string } }
  | { image: ImageSubject & { newer: number; security: number; packages: string[] } }
  | { image: ImageSubject & { fixed: number; exploited: number; advisories: string[] } };

interface ImageSubject {
  build_id: number;
  appliance_id: number;
  name: string;
  version: string;
  image_type: string;
}

/** The last announcement of an event about an image. */
export interface Announced {
  /** The state of what was compared when it was last decided whether to announce anything. */
  decidedFor: string;
  /** When something was announced (milliseconds since 1970). Null if nothing ever was. */
  at: number | null;
  count: number;
  /** The names of news that were announced immediately. */
  urgent: string[];
}

/** The events about an image that is outdated or affected. */
export type NewsOfImage = Extract<EventName, "image.outdated" | "image.affected">;
export type AnnouncedOfImage = Partial<Record<NewsOfImage, Announced>>;

/**
 * Something that happened at `at` (milliseconds since 1970). The key names the object and its state: each is announced
 * once.
 */
export interface Announcement {
  key: string;
  event: EventName;
  at: number;
  /** Name of the account. */
  account: string;
  subject: EventSubject;
  /** Whether it cannot wait for the next daily mail. */
  isUrgent?: boolean;
}
