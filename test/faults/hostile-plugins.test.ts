import { testHostilePlugins } from "./hostile.ts";

testHostilePlugins(["files to read", "files to write"]);
