// The scripted model of the test kit, in a process of its own.
import { startScriptedModel } from '@countersign/testkit/scripted-model';

const model = await startScriptedModel();
// It remembers requests for tests to look at; here they would only fill the memory.
setInterval(() => model.requests.splice(0), 100).unref();
process.once('disconnect', () => process.exit());
process.send({ ready: true, url: model.url });
