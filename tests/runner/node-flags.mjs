import { nodeFlags } from './node-flags-of.mjs';

process.stdout.write(nodeFlags().join(' '));
