// @ts-check
"use strict";

/** Shows the operations of the OpenAPI document, each with a form that sends a real request. */

const STREAM_PREVIEW_MS = 20_000;
let token = "";

element("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  token = /** @type {HTMLInputElement} */ (element("token")).value.trim();
  void showOperations();
});

async function showOperations() {
  const response = await send("GET", location.pathname.replace(/docs$/, "openapi.json"));
  const document = await response.json();
  if (!response.ok) return notify(document.detail, true);
  notify(`Version ${document.info.version}`, false);
  element("operations").replaceChildren(
    ...document.tags.flatMap((tag) => [heading(tag.name), ...operationsOf(document, tag.name)]),
  );
}

function operationsOf(document, tag) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => operationPanel(document, { path, method, ...operation })),
  );
}

function operationPanel(document, operation) {
  const template = /** @type {HTMLTemplateElement} */ (element("operation"));
  const panel = /** @type {DocumentFragment} */ (template.content.cloneNode(true));
  const find = (selector) => /** @type {HTMLElement} */ (panel.querySelector(selector));
  find(".method").textContent = operation.method.toUpperCase();
  find(".path").textContent = operation.path;
  find(".about").textContent = operation.summary;
  find(".scope").textContent = operation.security[0]?.token[0] ?? "no token";

  const fields = find(".fields");
  for (const { name, required, schema, description } of operation.parameters ?? []) {
    const input = Object.assign(window.document.createElement("input"), { name, required });
    fields.append(labelled(`${name} ${description ?? schema.description ?? ""}`, input));
  }
  if (operation.requestBody) {
    const { schema } = operation.requestBody.content["application/json"] ?? {};
    const value = schema ? JSON.stringify(example(document, schema), null, 2) : "";
    const body = Object.assign(window.document.createElement("textarea"), { name: " body", value });
    fields.append(labelled("body", body));
  }

  const answer = find(".answer");
  find("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    void tryOut(operation, new FormData(form), answer);
  });
  for (const [status, { description }] of Object.entries(operation.responses)) {
    find(".answers").append(textElement("dt", status), textElement("dd", description));
  }
  return panel;
}

async function tryOut(operation, values, answer) {
  answer.hidden = false;
  answer.textContent = "…";
  const { target, headers } = addressed(operation, values);
  try {
    const endless = operation.responses[200]?.content?.["text/event-stream"];
    const response = await send(operation.method.toUpperCase(), target, {
      body: values.get(" body"),
      type: Object.keys(operation.requestBody?.content ?? {})[0]?.replace("*/*", "text/plain"),
      headers,
      signal: endless ? AbortSignal.timeout(STREAM_PREVIEW_MS) : undefined,
    });
    answer.classList.toggle("wrong", !response.ok);
    answer.textContent = `${response.status} ${response.statusText}\n\n`;
    await showBody(response, answer);
  } catch (error) {
    answer.textContent += `\n${error.message}`;
  }
}

/** Puts the fields into the path, the query and the headers, as the operation requires. */
function addressed({ path, parameters = [] }, values) {
  const query = new URLSearchParams();
  const headers = {};
  let target = path;
  for (const { name, in: place, schema } of parameters) {
    const value = String(values.get(name));
    if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(value));
    else if (value === "") continue;
    else if (place === "header") headers[name] = value;
    else if (schema.type === "array") value.split(",").forEach((each) => query.append(name, each));
    else query.set(name, value);
  }
  return { target: query.size > 0 ? `${target}?${query}` : target, headers };
}

/** Shows the body as it arrives, so that an endless stream can be read too. */
async function showBody(response, answer) {
  if (response.headers.get("Content-Type")?.includes("json")) {
    answer.textContent += JSON.stringify(await response.json(), null, 2);
    return;
  }
  if (!response.body) return;
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    answer.textContent += text;
  }
}

function send(method, target, { body, type, headers: given, signal } = {}) {
  const headers = new Headers(given);
  if (token) headers.set("Authorization", `Bearer ${token}`); // without a token, the browser's session is used
  if (body && type) headers.set("Content-Type", type);
  return fetch(target, { method, headers, body: body || undefined, signal });
}

/** An example value of the right shape. */
function example(document, schema) {
  if (schema.$ref)
    return example(document, document.components.schemas[schema.$ref.split("/").pop()]);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return example(document, schema.anyOf[0]);
  if (schema.type === "array") return [];
  if (schema.type === "object") {
    return Object.fromEntries(
      (schema.required ?? []).map((name) => [name, example(document, schema.properties[name])]),
    );
  }
  return { string: "", number: 0, integer: 0, boolean: false }[schema.type] ?? null;
}

function notify(text, wrong) {
  const notice = element("notice");
  notice.textContent = text;
  notice.classList.toggle("wrong", wrong);
}

function labelled(text, field) {
  const label = textElement("label", text);
  label.append(field);
  return label;
}

function heading(text) {
  return textElement("h2", text);
}

function textElement(name, text) {
  return Object.assign(window.document.createElement(name), { textContent: text });
}

function element(id) {
  return /** @type {HTMLElement} */ (window.document.getElementById(id));
}
