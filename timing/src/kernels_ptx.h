// SPDX-License-Identifier: Apache-2.0
// Made from kernels.cu by make_ptx.sh. Do not edit.
#pragma once

namespace plumbline::timing {

inline constexpr char kKernelsPtx[] = R"ptx(
.version 6.4
.target sm_70
.address_size 64

	// .globl	plumbline_block

.visible .entry plumbline_block(
	.param .u64 plumbline_block_param_0,
	.param .u32 plumbline_block_param_1,
	.param .u64 plumbline_block_param_2,
	.param .u64 plumbline_block_param_3
)
{
	.reg .pred 	%p<4>;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd7, [plumbline_block_param_0];
	ld.param.u32 	%r1, [plumbline_block_param_1];
	ld.param.u64 	%rd4, [plumbline_block_param_2];
	ld.param.u64 	%rd5, [plumbline_block_param_3];
	mov.u64 %rd6, %globaltimer;
	cvta.to.global.u64 	%rd2, %rd7;
	ld.volatile.global.u32 	%r2, [%rd2];
	setp.ge.s32 	%p1, %r2, %r1;
	@%p1 bra 	$L__BB0_5;

	cvta.to.global.u64 	%rd3, %rd5;

$L__BB0_2:
	mov.u64 %rd8, %globaltimer;
	sub.s64 	%rd9, %rd8, %rd6;
	setp.gt.u64 	%p2, %rd9, %rd4;
	@%p2 bra 	$L__BB0_4;

	nanosleep.u32 200;
	ld.volatile.global.u32 	%r3, [%rd2];
	setp.lt.s32 	%p3, %r3, %r1;
	@%p3 bra 	$L__BB0_2;
	bra.uni 	$L__BB0_5;

$L__BB0_4:
	st.volatile.global.u32 	[%rd3], %r1;

$L__BB0_5:
	ret;

}
	// .globl	plumbline_stamp
.visible .entry plumbline_stamp(
	.param .u64 plumbline_stamp_param_0
)
{
	.reg .pred 	%p<4>;
	.reg .b32 	%r<7>;
	.reg .b64 	%rd<9>;


	ld.param.u64 	%rd5, [plumbline_stamp_param_0];
	cvta.to.global.u64 	%rd1, %rd5;
	mov.u32 %r4, %smid;
	mov.u64 %rd4, %globaltimer;
	mov.u32 	%r6, 0;

$L__BB1_1:
	mov.u64 %rd6, %globaltimer;
	add.s32 	%r6, %r6, 1;
	setp.lt.u32 	%p1, %r6, 4096;
	setp.eq.s64 	%p2, %rd6, %rd4;
	and.pred  	%p3, %p2, %p1;
	@%p3 bra 	$L__BB1_1;

	mov.u64 %rd7, %clock64;
	st.global.u64 	[%rd1], %rd7;
	st.global.u64 	[%rd1+8], %rd6;
	cvt.u64.u32 	%rd8, %r4;
	st.global.u64 	[%rd1+16], %rd8;
	ret;

}
	// .globl	plumbline_spin
.visible .entry plumbline_spin(
	.param .u64 plumbline_spin_param_0,
	.param .u64 plumbline_spin_param_1
)
{
	.reg .pred 	%p<3>;
	.reg .b64 	%rd<12>;


	ld.param.u64 	%rd5, [plumbline_spin_param_0];
	ld.param.u64 	%rd6, [plumbline_spin_param_1];
	cvta.to.global.u64 	%rd1, %rd6;
	mov.u64 %rd7, %globaltimer;
	mov.u64 %rd8, %clock64;

$L__BB2_1:
	mov.u64 %rd9, %clock64;
	sub.s64 	%rd10, %rd9, %rd8;
	setp.lt.u64 	%p1, %rd10, %rd5;
	@%p1 bra 	$L__BB2_1;

	setp.eq.s64 	%p2, %rd6, 0;
	@%p2 bra 	$L__BB2_4;

	st.global.u64 	[%rd1], %rd8;
	st.global.u64 	[%rd1+8], %rd9;
	st.global.u64 	[%rd1+16], %rd7;
	mov.u64 %rd11, %globaltimer;
	st.global.u64 	[%rd1+24], %rd11;

$L__BB2_4:
	ret;

}

)ptx";

}  // namespace plumbline::timing
