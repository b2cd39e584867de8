import type { Storage } from "@mantel/plugin-sdk";
import {
  StoredObjects,
  type StoredObjectsDependencies,
} from "../../../plugins/calendar/stored-objects.ts";
import { UnfinishedChanges } from "../../../plugins/calendar/unfinished-changes.ts";
import { Writer } from "../../../plugins/calendar/writer.ts";
import { collectedLog } from "../../helpers/collected-log.ts";

/** A writer, and what it has begun and not finished. Nothing is tried again later unless the test starts it. */
export function openWriter(writing: StoredObjectsDependencies, storage: Storage) {
  const objects = new StoredObjects(writing, "event");
  const unfinished = new UnfinishedChanges({
    storage,
    objects,
    find: writing.find,
    log: collectedLog(),
    delayMs: () => 1,
  });
  return { writer: new Writer({ ...writing, objects, unfinished }), unfinished };
}
