import type { EventName } from "#model/event-names";

/** The state of the changed thing, as receivers get it. */
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
  | {
      image: {
        build_id: number;
        appliance_id: number;
        name: string;
        version: string;
        image_type: string;
        newer: number;
        security: number;
        packages: string[];
      };
    };

/** Something that happened at `at` (milliseconds since 1970). The key names the thing and its state: each is announced once. */
export interface Announcement {
  key: string;
  event: EventName;
  at: number;
  /** Name of the account. */
  account: string;
  subject: EventSubject;
}
