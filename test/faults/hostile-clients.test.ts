import { testHostilePlugins } from "./hostile.ts";

testHostilePlugins(["the sign-in", "the broker", "the viewer of a widget"]);
