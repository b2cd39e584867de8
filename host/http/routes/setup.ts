import { Type } from "typebox";
import { Titles } from "../../api/module.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { addressForPhones, PhoneAddress } from "../network-address.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const State = Type.Object({
  /** True while the devices are simulated, because no bridge is set up. */
  simulated: Type.Boolean(),
  /** True if the home has coordinates. */
  place: Type.Boolean(),
  address: PhoneAddress,
});
const Found = Type.Object({
  found: Type.Array(
    Type.Object({
      /** The id of the module that connects it. */
      module: Type.String(),
      name: Type.String(),
      /** The name by language, as far as the plugin has it. */
      titles: Type.Optional(Titles),
      icon: Type.Union([Type.String(), Type.Null()]),
      address: Type.String(),
      /** Options of the module that connect it, or a first part of them. */
      options: Type.Record(Type.String(), Type.String()),
    }),
  ),
});

/** `/setup`: the steps from a demonstration to a home of one's own. */
export function setupRoutes(parts: HttpDependencies): Route[] {
  const { modules, config, connectables } = parts;
  return [
    route({
      method: "GET",
      path: "/setup",
      operationId: "getSetup",
      scope: "read",
      tag: "Config",
      summary: "Read what is not set up yet",
      answers: jsonAnswer("The state", State),
      handle: (ctx) => ({
        ...addressForPhones(ctx, parts),
        simulated: modules.isSimulated,
        place: config.current.home.latitude !== undefined,
      }),
    }),
    route({
      method: "GET",
      path: "/setup/devices",
      operationId: "findDevices",
      scope: "admin",
      tag: "Config",
      summary: "Search the network for what plugins can connect to; takes some seconds",
      answers: jsonAnswer("What was found", Found),
      handle: async () => ({ found: [...(await connectables.find())] }),
    }),
  ];
}
