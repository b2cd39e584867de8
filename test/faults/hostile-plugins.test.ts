import { testHostilePlugins } from "./hostile-plugins.ts";

testHostilePlugins(["files to read", "files to write"]);
