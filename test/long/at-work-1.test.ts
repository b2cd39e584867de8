import { testFaultsAtWork } from "./at-work.ts";

testFaultsAtWork(0);
