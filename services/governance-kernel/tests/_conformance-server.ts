import { createServer } from 'node:http';
import { once } from 'node:events';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  isSpecType,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  Server,
  type CallToolResult,
  type ContentBlock,
  type GetPromptResult,
  type InputRequiredResult,
  type Prompt,
  type ServerContext,
} from '@modelcontextprotocol/server';

const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const audio = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

type ConformanceServer = {
  url: string;
  /** Reports that a resource has changed. */
  changed(uri: string): void;
  close(): Promise<void>;
};

/**
 * The MCP server that the npm conformance suite expects, for both protocol revisions. The suite calls tools by their
 * alias: `test_simple_text` is the tool `simple_text` of the server declared as `test`. The names here therefore have
 * no prefix `test_`.
 */
export async function startConformanceServer(): Promise<ConformanceServer> {
  const handler = createMcpHandler(conformanceServer);
  const serve = toNodeHandler(handler);
  const http = createServer((req, res) => void serve(req, res));
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    changed: (uri) => handler.notify.resourceUpdated(uri),
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

const states = createRequestStateCodec({ key: 'the key of a server that lives as long as one test' });

function conformanceServer(): Server {
  const server = new Server(
    { name: 'conformance', version: '1' },
    {
      capabilities: {
        tools: {},
        resources: { subscribe: true },
        prompts: {},
        completions: {},
        logging: {},
      },
      inputRequired: { legacyShim: false },
      requestState: { verify: states.verify },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map((name) => ({ name, description: `Tests ${name}.`, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools[params.name];
    if (tool === undefined) throw new ProtocolError(-32_602, 'Unknown tool');
    return await tool(context, params.arguments ?? {});
  });
  server.setRequestHandler('resources/list', () => ({
    resources: [
      { uri: 'test://static-text', name: 'Static text', mimeType: 'text/plain' },
      { uri: 'test://static-binary', name: 'Static binary', mimeType: 'image/png' },
      { uri: 'test://watched-resource', name: 'Watched', mimeType: 'text/plain' },
    ],
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'By id', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [contentOf(uri)] }));
  server.setRequestHandler('prompts/list', () => ({ prompts: Object.values(prompts).map(({ prompt }) => prompt) }));
  server.setRequestHandler('prompts/get', async ({ params }, context) => {
    const found = prompts[params.name];
    if (found === undefined) throw new ProtocolError(-32_602, 'Unknown prompt');
    return await found.get(params.arguments ?? {}, context);
  });
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park'], hasMore: false },
  }));
  return server;
}

function contentOf(uri: string) {
  if (uri === 'test://static-text') return { uri, mimeType: 'text/plain', text: 'The text of the static resource.' };
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: image };
  if (uri === 'test://watched-resource') return { uri, mimeType: 'text/plain', text: 'Watched.' };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) throw new ProtocolError(-32_602, 'Resource not found', { uri });
  return {
    uri,
    mimeType: 'application/json',
    text: JSON.stringify({ id, templateTest: true, data: `Data for ${id}` }),
  };
}

type Result = CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>;
type Act = (context: ServerContext, args: Record<string, unknown>) => Result;

const text = (line: string): CallToolResult => ({ content: [{ type: 'text', text: line }] });
const content = (...pieces: ContentBlock[]): CallToolResult => ({ content: pieces });
const embedded = (uri: string, line: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType: 'text/plain', text: line },
});

const form = (message: string, property: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [property]: { type: 'string' } }, required: [property] },
  });
const titled = ['value1', 'value2', 'value3'].map((value) => ({ const: value, title: `Choice ${value}` }));
type Form = Extract<Parameters<typeof inputRequired.elicit>[0]['requestedSchema'], { properties: object }>;

const userName = () => form('What is your name?', 'name');
const sampling = (question: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens: 100,
  });

/** The content of an accepted form. `null` when the form was not answered. */
function answer({ mcpReq }: ServerContext, key: string): Record<string, unknown> | null {
  const response = mcpReq.inputResponses?.[key];
  if (typeof response !== 'object' || response === null || !('content' in response)) return null;
  return typeof response.content === 'object' ? (response.content as Record<string, unknown>) : null;
}

async function withState({ mcpReq }: ServerContext): Promise<InputRequiredResult | CallToolResult> {
  if (mcpReq.requestState() !== undefined && mcpReq.inputResponses?.['confirm'] !== undefined) return text('state-ok');
  return inputRequired({
    inputRequests: { confirm: form('Please confirm', 'ok') },
    requestState: await states.mint('round-1'),
  });
}

const tools: Record<string, Act> = {
  simple_text: () => text('This is a simple text response for testing.'),
  image_content: () => content({ type: 'image', data: image, mimeType: 'image/png' }),
  audio_content: () => content({ type: 'audio', data: audio, mimeType: 'audio/wav' }),
  embedded_resource: () => content(embedded('test://embedded-resource', 'This is an embedded resource content.')),
  multiple_content_types: () =>
    content(
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: image, mimeType: 'image/png' },
      embedded('test://mixed-content-resource', '{"test":"data","value":123}'),
    ),
  tool_with_logging: async ({ mcpReq }) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
      await mcpReq.log('info', line);
    return text('Tool with logging executed successfully');
  },
  tool_with_progress: async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    return text('done');
  },
  error_handling: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  missing_capability: () => {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  },
  input_required_result_elicitation: (context) => {
    const values = answer(context, 'user_name');
    return typeof values?.['name'] === 'string'
      ? text(`Hello, ${values['name']}!`)
      : inputRequired({ inputRequests: { user_name: userName() } });
  },
  input_required_result_sampling: ({ mcpReq }) =>
    mcpReq.inputResponses?.['capital_question'] === undefined
      ? inputRequired({ inputRequests: { capital_question: sampling('What is the capital of France?') } })
      : text('Paris'),
  input_required_result_list_roots: ({ mcpReq }) =>
    mcpReq.inputResponses?.['client_roots'] === undefined
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : text('Roots received'),
  input_required_result_request_state: withState,
  input_required_result_tampered_state: withState,
  input_required_result_multiple_inputs: async ({ mcpReq }) =>
    mcpReq.requestState() === undefined
      ? inputRequired({
          inputRequests: {
            user_name: userName(),
            greeting: sampling('Greet'),
            client_roots: inputRequired.listRoots(),
          },
          requestState: await states.mint('round-1'),
        })
      : text('All received'),
  input_required_result_multi_round: async (context) => {
    const round = context.mcpReq.requestState<{ name?: unknown }>();
    if (round === undefined)
      return inputRequired({
        inputRequests: { step1: form('Step 1: What is your name?', 'name') },
        requestState: await states.mint({}),
      });
    if (round.name !== undefined) return text(`Done for ${String(round.name)}`);
    return inputRequired({
      inputRequests: { step2: form('Step 2: What is your favorite color?', 'color') },
      requestState: await states.mint({ name: answer(context, 'step1')?.['name'] ?? 'unnamed' }),
    });
  },
  input_required_result_capabilities: ({ mcpReq }) => {
    const values: unknown = new Map<string, unknown>(Object.entries(mcpReq.envelope ?? {})).get(
      CLIENT_CAPABILITIES_META_KEY,
    );
    const capabilities = isSpecType.ClientCapabilities(values) ? values : {};
    return inputRequired({
      inputRequests: {
        ...(capabilities.elicitation === undefined ? {} : { user_name: userName() }),
        ...(capabilities.sampling === undefined ? {} : { capital_question: sampling('What?') }),
      },
    });
  },
};

/** Asks for a form, and reports the answer. */
function asking(message: (args: Record<string, unknown>) => string, properties: Form['properties']): Act {
  return ({ mcpReq }, args) => {
    const response = mcpReq.inputResponses?.['answer'];
    if (response !== undefined) return text(`Elicitation completed: ${JSON.stringify(response)}`);
    const requestedSchema = { type: 'object' as const, properties, required: Object.keys(properties) };
    return inputRequired({
      inputRequests: { answer: inputRequired.elicit({ message: message(args), requestedSchema }) },
    });
  };
}

Object.assign(tools, {
  elicitation: asking(({ message }) => String(message), {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  }),
  elicitation_sep1034_defaults: asking(() => 'Check the defaults', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
  elicitation_sep1330_enums: asking(() => 'Choose', {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  }),
});

type PromptAct = {
  prompt: Prompt;
  get(
    args: Record<string, string>,
    context: ServerContext,
  ): GetPromptResult | InputRequiredResult | Promise<GetPromptResult | InputRequiredResult>;
};

const statementOf = (...pieces: ContentBlock[]): GetPromptResult => ({
  messages: pieces.map((piece) => ({ role: 'user', content: piece })),
});
const required = (...names: string[]) => names.map((name) => ({ name, description: `The ${name}.`, required: true }));
const promptAct = (name: string, args: Prompt['arguments'], get: PromptAct['get']): [string, PromptAct] => [
  name,
  { prompt: { name, description: `Tests ${name}.`, ...(args === undefined ? {} : { arguments: args }) }, get },
];

const prompts: Record<string, PromptAct> = Object.fromEntries([
  promptAct('simple_prompt', undefined, () =>
    statementOf({ type: 'text', text: 'This is a simple prompt for testing.' }),
  ),
  promptAct('prompt_with_arguments', required('arg1', 'arg2'), ({ arg1, arg2 }) =>
    statementOf({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  ),
  promptAct('prompt_with_embedded_resource', required('resourceUri'), ({ resourceUri = '' }) =>
    statementOf(embedded(resourceUri, 'Embedded resource content for testing.'), {
      type: 'text',
      text: 'Please process the embedded resource above.',
    }),
  ),
  promptAct('prompt_with_image', undefined, () =>
    statementOf(
      { type: 'image', data: image, mimeType: 'image/png' },
      { type: 'text', text: 'Please analyze the image above.' },
    ),
  ),
  promptAct('unstorable', [{ name: 'nul\u0000', description: 'It hides itself alone.' }], () => statementOf()),
  promptAct('input_required_result_prompt', undefined, (_args, context) => {
    const values = answer(context, 'user_context');
    return values === null
      ? inputRequired({ inputRequests: { user_context: form('What context should the prompt use?', 'context') } })
      : statementOf({ type: 'text', text: `Use ${String(values['context'])}.` });
  }),
]);
