// A restore as `npm run restore` does it, in a program that starts fast enough to be killed many times.
import { readFile } from "node:fs/promises";
import { openRestore } from "../../host/backup/restore.ts";
import {
  finishReplacement,
  newStagingName,
  planReplacement,
  stageReplacement,
} from "../../host/documents/restore-transaction.ts";

const [dataFolder = "", file = ""] = process.argv.slice(2);
const staging = newStagingName();
void readFile(file)
  .then((packed) => openRestore({ packed, name: file, passphrase: undefined, credentials: false }))
  .then((restore) => restore.replacementIn(dataFolder))
  .then((replacement) => stageReplacement(dataFolder, staging, replacement))
  .then(() => planReplacement(dataFolder, staging))
  .then(() => finishReplacement(dataFolder));
