import type {} from '../../tooling/vitest/provided.d.ts';
import { inject } from 'vitest';
import { describePast } from './past.suite.js';

describePast('etcd', () => ({ etcd: inject('etcd') }));
