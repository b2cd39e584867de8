export { calendarEvents, CalendarQuery } from "./calendar.ts";
export { HomeNotification, homeNotify } from "./home.ts";
export { HostProcessFigures, hostProcess, MachineDisk, machineDisks } from "./machine.ts";
export { brokerAddress, MqttBroker, mqttBroker, MqttPublish, mqttPublish } from "./mqtt.ts";
