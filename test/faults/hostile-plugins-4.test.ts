import { testHostilePlugins } from "./hostile.ts";

testHostilePlugins(["the storage limit"]);
