import type {} from '../../tooling/vitest/provided.d.ts';
import { inject } from 'vitest';
import { projectionSuite } from './projection.suite.js';

projectionSuite('etcd', () => ({ etcd: inject('etcd') }), 2, 120);
