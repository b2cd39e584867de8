// npm run pack-sdk -- [FOLDER]: packs the SDK and the scaffold for authors outside the repository, as npm would publish
// them.

import { packCreate, packSdk } from "./pack-sdk/pack.ts";

const [folder = "."] = process.argv.slice(2);
console.log(await packSdk(folder));
console.log(await packCreate(folder));
