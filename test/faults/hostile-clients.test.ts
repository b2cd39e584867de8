import { testHostilePlugins } from "./hostile-plugins.ts";

testHostilePlugins(["the sign-in", "the broker", "the viewer of a widget"]);
