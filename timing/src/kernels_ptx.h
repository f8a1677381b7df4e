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
	.param .u64 plumbline_block_param_1,
	.param .u64 plumbline_block_param_2,
	.param .u64 plumbline_block_param_3,
	.param .u32 plumbline_block_param_4,
	.param .u64 plumbline_block_param_5,
	.param .u64 plumbline_block_param_6
)
{
	.reg .pred 	%p<9>;
	.reg .b32 	%r<11>;
	.reg .b64 	%rd<15>;


	ld.param.u64 	%rd13, [plumbline_block_param_0];
	ld.param.u64 	%rd7, [plumbline_block_param_1];
	ld.param.u64 	%rd8, [plumbline_block_param_2];
	ld.param.u64 	%rd9, [plumbline_block_param_3];
	ld.param.u32 	%r3, [plumbline_block_param_4];
	ld.param.u64 	%rd10, [plumbline_block_param_5];
	ld.param.u64 	%rd11, [plumbline_block_param_6];
	mov.u64 %rd12, %globaltimer;
	cvta.to.global.u64 	%rd2, %rd13;
	ld.volatile.global.u32 	%r4, [%rd2];
	setp.ge.s32 	%p1, %r4, %r3;
	@%p1 bra 	$L__BB0_8;

	cvta.to.global.u64 	%rd3, %rd8;
	cvta.to.global.u64 	%rd4, %rd7;
	cvta.to.global.u64 	%rd5, %rd9;
	mov.u32 	%r10, 1;

$L__BB0_2:
	and.b32  	%r6, %r10, 31;
	setp.ne.s32 	%p2, %r6, 0;
	@%p2 bra 	$L__BB0_6;

	ld.volatile.global.u32 	%r7, [%rd3];
	setp.ge.s32 	%p3, %r7, %r3;
	@%p3 bra 	$L__BB0_8;

	mov.u64 %rd14, %globaltimer;
	sub.s64 	%rd6, %rd14, %rd12;
	setp.le.u64 	%p4, %rd6, %rd10;
	@%p4 bra 	$L__BB0_6;

	ld.volatile.global.u32 	%r8, [%rd4];
	setp.lt.s32 	%p5, %r8, %r3;
	setp.gt.u64 	%p6, %rd6, %rd11;
	or.pred  	%p7, %p6, %p5;
	@%p7 bra 	$L__BB0_7;

$L__BB0_6:
	nanosleep.u32 200;
	add.s32 	%r10, %r10, 1;
	ld.volatile.global.u32 	%r9, [%rd2];
	setp.lt.s32 	%p8, %r9, %r3;
	@%p8 bra 	$L__BB0_2;

$L__BB0_8:
	ret;

$L__BB0_7:
	st.volatile.global.u32 	[%rd5], %r3;
	bra.uni 	$L__BB0_8;

}
	// .globl	plumbline_mark
.visible .entry plumbline_mark(
	.param .u64 plumbline_mark_param_0,
	.param .u32 plumbline_mark_param_1
)
{
	.reg .b32 	%r<2>;
	.reg .b64 	%rd<3>;


	ld.param.u64 	%rd1, [plumbline_mark_param_0];
	ld.param.u32 	%r1, [plumbline_mark_param_1];
	cvta.to.global.u64 	%rd2, %rd1;
	membar.sys;
	st.volatile.global.u32 	[%rd2], %r1;
	membar.sys;
	ret;

}
	// .globl	plumbline_gather
.visible .entry plumbline_gather(
	.param .u64 plumbline_gather_param_0,
	.param .u64 plumbline_gather_param_1,
	.param .align 8 .b8 plumbline_gather_param_2[264],
	.param .u64 plumbline_gather_param_3,
	.param .u32 plumbline_gather_param_4
)
{
	.reg .pred 	%p<37>;
	.reg .b16 	%rs<5>;
	.reg .b32 	%r<71>;
	.reg .b64 	%rd<212>;


	ld.param.u64 	%rd95, [plumbline_gather_param_0];
	ld.param.u64 	%rd96, [plumbline_gather_param_1];
	mov.b64 	%rd97, plumbline_gather_param_2;
	ld.param.u64 	%rd94, [plumbline_gather_param_3];
	ld.param.u32 	%r17, [plumbline_gather_param_4];
	cvta.to.global.u64 	%rd2, %rd95;
	cvta.to.global.u64 	%rd3, %rd96;
	add.s64 	%rd4, %rd97, 256;
	setp.gt.s32 	%p1, %r17, 3;
	@%p1 bra 	$L__BB2_6;
	bra.uni 	$L__BB2_1;

$L__BB2_6:
	setp.eq.s32 	%p2, %r17, 4;
	@%p2 bra 	$L__BB2_27;

	setp.eq.s32 	%p3, %r17, 8;
	@%p3 bra 	$L__BB2_18;

	setp.ne.s32 	%p4, %r17, 16;
	@%p4 bra 	$L__BB2_52;

	mov.u32 	%r18, %nctaid.x;
	mov.u32 	%r19, %ntid.x;
	mul.wide.u32 	%rd5, %r18, %r19;
	mov.u32 	%r20, %ctaid.x;
	mul.wide.u32 	%rd98, %r20, %r19;
	mov.u32 	%r21, %tid.x;
	cvt.u64.u32 	%rd99, %r21;
	add.s64 	%rd181, %rd98, %rd99;
	setp.ge.u64 	%p7, %rd181, %rd94;
	@%p7 bra 	$L__BB2_52;

	ld.param.u32 	%r1, [%rd4];
	setp.gt.s32 	%p8, %r1, 0;
	@%p8 bra 	$L__BB2_12;
	bra.uni 	$L__BB2_11;

$L__BB2_12:
	mov.u64 	%rd183, 0;
	mov.u32 	%r66, %r1;
	mov.u64 	%rd184, %rd181;

$L__BB2_13:
	.pragma "nounroll";
	add.s32 	%r3, %r66, -1;
	mul.wide.s32 	%rd107, %r3, 8;
	add.s64 	%rd12, %rd97, %rd107;
	ld.param.u64 	%rd13, [%rd12];
	or.b64  	%rd108, %rd184, %rd13;
	and.b64  	%rd109, %rd108, -4294967296;
	setp.eq.s64 	%p10, %rd109, 0;
	@%p10 bra 	$L__BB2_15;

	div.u64 	%rd14, %rd184, %rd13;
	mul.lo.s64 	%rd110, %rd14, %rd13;
	sub.s64 	%rd186, %rd184, %rd110;
	mov.u64 	%rd184, %rd14;
	bra.uni 	$L__BB2_16;

$L__BB2_15:
	cvt.u32.u64 	%r22, %rd13;
	cvt.u32.u64 	%r23, %rd184;
	div.u32 	%r24, %r23, %r22;
	mul.lo.s32 	%r25, %r24, %r22;
	sub.s32 	%r26, %r23, %r25;
	cvt.u64.u32 	%rd184, %r24;
	cvt.u64.u32 	%rd186, %r26;

$L__BB2_16:
	ld.param.u64 	%rd111, [%rd12+128];
	mul.lo.s64 	%rd112, %rd111, %rd186;
	add.s64 	%rd183, %rd112, %rd183;
	setp.gt.s32 	%p11, %r66, 1;
	mov.u32 	%r66, %r3;
	@%p11 bra 	$L__BB2_13;

	shl.b64 	%rd113, %rd183, 4;
	add.s64 	%rd114, %rd3, %rd113;
	ld.global.v2.u64 	{%rd115, %rd116}, [%rd114];
	shl.b64 	%rd119, %rd181, 4;
	add.s64 	%rd120, %rd2, %rd119;
	st.global.v2.u64 	[%rd120], {%rd115, %rd116};
	add.s64 	%rd181, %rd181, %rd5;
	setp.lt.u64 	%p12, %rd181, %rd94;
	@%p12 bra 	$L__BB2_12;
	bra.uni 	$L__BB2_52;

$L__BB2_11:
	ld.global.v2.u64 	{%rd100, %rd101}, [%rd3];
	shl.b64 	%rd104, %rd181, 4;
	add.s64 	%rd105, %rd2, %rd104;
	st.global.v2.u64 	[%rd105], {%rd100, %rd101};
	add.s64 	%rd181, %rd181, %rd5;
	setp.lt.u64 	%p9, %rd181, %rd94;
	@%p9 bra 	$L__BB2_11;
	bra.uni 	$L__BB2_52;

$L__BB2_1:
	setp.eq.s32 	%p5, %r17, 1;
	@%p5 bra 	$L__BB2_42;

	setp.eq.s32 	%p6, %r17, 2;
	@%p6 bra 	$L__BB2_3;
	bra.uni 	$L__BB2_52;

$L__BB2_3:
	mov.u32 	%r47, %nctaid.x;
	mov.u32 	%r48, %ntid.x;
	mul.wide.u32 	%rd56, %r47, %r48;
	mov.u32 	%r49, %ctaid.x;
	mul.wide.u32 	%rd153, %r49, %r48;
	mov.u32 	%r50, %tid.x;
	cvt.u64.u32 	%rd154, %r50;
	add.s64 	%rd199, %rd153, %rd154;
	setp.ge.u64 	%p25, %rd199, %rd94;
	@%p25 bra 	$L__BB2_52;

	ld.param.u32 	%r10, [%rd4];
	setp.gt.s32 	%p26, %r10, 0;
	@%p26 bra 	$L__BB2_36;
	bra.uni 	$L__BB2_5;

$L__BB2_36:
	mov.u64 	%rd201, 0;
	mov.u32 	%r69, %r10;
	mov.u64 	%rd202, %rd199;

$L__BB2_37:
	.pragma "nounroll";
	add.s32 	%r12, %r69, -1;
	mul.wide.s32 	%rd158, %r12, 8;
	add.s64 	%rd63, %rd97, %rd158;
	ld.param.u64 	%rd64, [%rd63];
	or.b64  	%rd159, %rd202, %rd64;
	and.b64  	%rd160, %rd159, -4294967296;
	setp.eq.s64 	%p28, %rd160, 0;
	@%p28 bra 	$L__BB2_39;

	div.u64 	%rd65, %rd202, %rd64;
	mul.lo.s64 	%rd161, %rd65, %rd64;
	sub.s64 	%rd204, %rd202, %rd161;
	mov.u64 	%rd202, %rd65;
	bra.uni 	$L__BB2_40;

$L__BB2_39:
	cvt.u32.u64 	%r51, %rd64;
	cvt.u32.u64 	%r52, %rd202;
	div.u32 	%r53, %r52, %r51;
	mul.lo.s32 	%r54, %r53, %r51;
	sub.s32 	%r55, %r52, %r54;
	cvt.u64.u32 	%rd202, %r53;
	cvt.u64.u32 	%rd204, %r55;

$L__BB2_40:
	ld.param.u64 	%rd162, [%rd63+128];
	mul.lo.s64 	%rd163, %rd162, %rd204;
	add.s64 	%rd201, %rd163, %rd201;
	setp.gt.s32 	%p29, %r69, 1;
	mov.u32 	%r69, %r12;
	@%p29 bra 	$L__BB2_37;

	shl.b64 	%rd164, %rd201, 1;
	add.s64 	%rd165, %rd3, %rd164;
	ld.global.u16 	%rs2, [%rd165];
	shl.b64 	%rd166, %rd199, 1;
	add.s64 	%rd167, %rd2, %rd166;
	st.global.u16 	[%rd167], %rs2;
	add.s64 	%rd199, %rd199, %rd56;
	setp.lt.u64 	%p30, %rd199, %rd94;
	@%p30 bra 	$L__BB2_36;
	bra.uni 	$L__BB2_52;

$L__BB2_5:
	ld.global.u16 	%rs1, [%rd3];
	shl.b64 	%rd155, %rd199, 1;
	add.s64 	%rd156, %rd2, %rd155;
	st.global.u16 	[%rd156], %rs1;
	add.s64 	%rd199, %rd199, %rd56;
	setp.lt.u64 	%p27, %rd199, %rd94;
	@%p27 bra 	$L__BB2_5;
	bra.uni 	$L__BB2_52;

$L__BB2_27:
	mov.u32 	%r36, %nctaid.x;
	mov.u32 	%r37, %ntid.x;
	mul.wide.u32 	%rd39, %r36, %r37;
	mov.u32 	%r38, %ctaid.x;
	mul.wide.u32 	%rd138, %r38, %r37;
	mov.u32 	%r39, %tid.x;
	cvt.u64.u32 	%rd139, %r39;
	add.s64 	%rd193, %rd138, %rd139;
	setp.ge.u64 	%p19, %rd193, %rd94;
	@%p19 bra 	$L__BB2_52;

	ld.param.u32 	%r7, [%rd4];
	setp.gt.s32 	%p20, %r7, 0;
	@%p20 bra 	$L__BB2_30;
	bra.uni 	$L__BB2_29;

$L__BB2_30:
	mov.u64 	%rd195, 0;
	mov.u32 	%r68, %r7;
	mov.u64 	%rd196, %rd193;

$L__BB2_31:
	.pragma "nounroll";
	add.s32 	%r9, %r68, -1;
	mul.wide.s32 	%rd143, %r9, 8;
	add.s64 	%rd46, %rd97, %rd143;
	ld.param.u64 	%rd47, [%rd46];
	or.b64  	%rd144, %rd196, %rd47;
	and.b64  	%rd145, %rd144, -4294967296;
	setp.eq.s64 	%p22, %rd145, 0;
	@%p22 bra 	$L__BB2_33;

	div.u64 	%rd48, %rd196, %rd47;
	mul.lo.s64 	%rd146, %rd48, %rd47;
	sub.s64 	%rd198, %rd196, %rd146;
	mov.u64 	%rd196, %rd48;
	bra.uni 	$L__BB2_34;

$L__BB2_33:
	cvt.u32.u64 	%r41, %rd47;
	cvt.u32.u64 	%r42, %rd196;
	div.u32 	%r43, %r42, %r41;
	mul.lo.s32 	%r44, %r43, %r41;
	sub.s32 	%r45, %r42, %r44;
	cvt.u64.u32 	%rd196, %r43;
	cvt.u64.u32 	%rd198, %r45;

$L__BB2_34:
	ld.param.u64 	%rd147, [%rd46+128];
	mul.lo.s64 	%rd148, %rd147, %rd198;
	add.s64 	%rd195, %rd148, %rd195;
	setp.gt.s32 	%p23, %r68, 1;
	mov.u32 	%r68, %r9;
	@%p23 bra 	$L__BB2_31;

	shl.b64 	%rd149, %rd195, 2;
	add.s64 	%rd150, %rd3, %rd149;
	ld.global.u32 	%r46, [%rd150];
	shl.b64 	%rd151, %rd193, 2;
	add.s64 	%rd152, %rd2, %rd151;
	st.global.u32 	[%rd152], %r46;
	add.s64 	%rd193, %rd193, %rd39;
	setp.lt.u64 	%p24, %rd193, %rd94;
	@%p24 bra 	$L__BB2_30;
	bra.uni 	$L__BB2_52;

$L__BB2_29:
	ld.global.u32 	%r40, [%rd3];
	shl.b64 	%rd140, %rd193, 2;
	add.s64 	%rd141, %rd2, %rd140;
	st.global.u32 	[%rd141], %r40;
	add.s64 	%rd193, %rd193, %rd39;
	setp.lt.u64 	%p21, %rd193, %rd94;
	@%p21 bra 	$L__BB2_29;
	bra.uni 	$L__BB2_52;

$L__BB2_18:
	mov.u32 	%r27, %nctaid.x;
	mov.u32 	%r28, %ntid.x;
	mul.wide.u32 	%rd22, %r27, %r28;
	mov.u32 	%r29, %ctaid.x;
	mul.wide.u32 	%rd121, %r29, %r28;
	mov.u32 	%r30, %tid.x;
	cvt.u64.u32 	%rd122, %r30;
	add.s64 	%rd187, %rd121, %rd122;
	setp.ge.u64 	%p13, %rd187, %rd94;
	@%p13 bra 	$L__BB2_52;

	ld.param.u32 	%r4, [%rd4];
	setp.gt.s32 	%p14, %r4, 0;
	@%p14 bra 	$L__BB2_21;
	bra.uni 	$L__BB2_20;

$L__BB2_21:
	mov.u64 	%rd189, 0;
	mov.u32 	%r67, %r4;
	mov.u64 	%rd190, %rd187;

$L__BB2_22:
	.pragma "nounroll";
	add.s32 	%r6, %r67, -1;
	mul.wide.s32 	%rd127, %r6, 8;
	add.s64 	%rd29, %rd97, %rd127;
	ld.param.u64 	%rd30, [%rd29];
	or.b64  	%rd128, %rd190, %rd30;
	and.b64  	%rd129, %rd128, -4294967296;
	setp.eq.s64 	%p16, %rd129, 0;
	@%p16 bra 	$L__BB2_24;

	div.u64 	%rd31, %rd190, %rd30;
	mul.lo.s64 	%rd130, %rd31, %rd30;
	sub.s64 	%rd192, %rd190, %rd130;
	mov.u64 	%rd190, %rd31;
	bra.uni 	$L__BB2_25;

$L__BB2_24:
	cvt.u32.u64 	%r31, %rd30;
	cvt.u32.u64 	%r32, %rd190;
	div.u32 	%r33, %r32, %r31;
	mul.lo.s32 	%r34, %r33, %r31;
	sub.s32 	%r35, %r32, %r34;
	cvt.u64.u32 	%rd190, %r33;
	cvt.u64.u32 	%rd192, %r35;

$L__BB2_25:
	ld.param.u64 	%rd131, [%rd29+128];
	mul.lo.s64 	%rd132, %rd131, %rd192;
	add.s64 	%rd189, %rd132, %rd189;
	setp.gt.s32 	%p17, %r67, 1;
	mov.u32 	%r67, %r6;
	@%p17 bra 	$L__BB2_22;

	shl.b64 	%rd133, %rd189, 3;
	add.s64 	%rd134, %rd3, %rd133;
	ld.global.u64 	%rd135, [%rd134];
	shl.b64 	%rd136, %rd187, 3;
	add.s64 	%rd137, %rd2, %rd136;
	st.global.u64 	[%rd137], %rd135;
	add.s64 	%rd187, %rd187, %rd22;
	setp.lt.u64 	%p18, %rd187, %rd94;
	@%p18 bra 	$L__BB2_21;
	bra.uni 	$L__BB2_52;

$L__BB2_20:
	ld.global.u64 	%rd123, [%rd3];
	shl.b64 	%rd124, %rd187, 3;
	add.s64 	%rd125, %rd2, %rd124;
	st.global.u64 	[%rd125], %rd123;
	add.s64 	%rd187, %rd187, %rd22;
	setp.lt.u64 	%p15, %rd187, %rd94;
	@%p15 bra 	$L__BB2_20;
	bra.uni 	$L__BB2_52;

$L__BB2_42:
	mov.u32 	%r56, %nctaid.x;
	mov.u32 	%r57, %ntid.x;
	mul.wide.u32 	%rd73, %r56, %r57;
	mov.u32 	%r58, %ctaid.x;
	mul.wide.u32 	%rd168, %r58, %r57;
	mov.u32 	%r59, %tid.x;
	cvt.u64.u32 	%rd169, %r59;
	add.s64 	%rd205, %rd168, %rd169;
	setp.ge.u64 	%p31, %rd205, %rd94;
	@%p31 bra 	$L__BB2_52;

	ld.param.u32 	%r13, [%rd4];
	setp.gt.s32 	%p32, %r13, 0;
	@%p32 bra 	$L__BB2_45;
	bra.uni 	$L__BB2_44;

$L__BB2_45:
	add.s32 	%r14, %r13, 1;
	add.s32 	%r60, %r13, -1;
	mul.wide.s32 	%rd171, %r60, 8;
	add.s64 	%rd172, %rd97, %rd171;
	add.s64 	%rd77, %rd172, 128;

$L__BB2_46:
	mov.u64 	%rd208, 0;
	mov.u64 	%rd207, %rd77;
	mov.u32 	%r70, %r14;
	mov.u64 	%rd209, %rd205;

$L__BB2_47:
	.pragma "nounroll";
	add.s64 	%rd83, %rd207, -128;
	ld.param.u64 	%rd84, [%rd207+-128];
	or.b64  	%rd174, %rd209, %rd84;
	and.b64  	%rd175, %rd174, -4294967296;
	setp.eq.s64 	%p34, %rd175, 0;
	@%p34 bra 	$L__BB2_49;

	div.u64 	%rd85, %rd209, %rd84;
	mul.lo.s64 	%rd176, %rd85, %rd84;
	sub.s64 	%rd211, %rd209, %rd176;
	mov.u64 	%rd209, %rd85;
	bra.uni 	$L__BB2_50;

$L__BB2_49:
	cvt.u32.u64 	%r61, %rd84;
	cvt.u32.u64 	%r62, %rd209;
	div.u32 	%r63, %r62, %r61;
	mul.lo.s32 	%r64, %r63, %r61;
	sub.s32 	%r65, %r62, %r64;
	cvt.u64.u32 	%rd209, %r63;
	cvt.u64.u32 	%rd211, %r65;

$L__BB2_50:
	ld.param.u64 	%rd177, [%rd83+128];
	mul.lo.s64 	%rd178, %rd177, %rd211;
	add.s64 	%rd208, %rd178, %rd208;
	add.s64 	%rd207, %rd207, -8;
	add.s32 	%r70, %r70, -1;
	setp.gt.s32 	%p35, %r70, 1;
	@%p35 bra 	$L__BB2_47;

	add.s64 	%rd179, %rd3, %rd208;
	ld.global.u8 	%rs4, [%rd179];
	add.s64 	%rd180, %rd2, %rd205;
	st.global.u8 	[%rd180], %rs4;
	add.s64 	%rd205, %rd205, %rd73;
	setp.lt.u64 	%p36, %rd205, %rd94;
	@%p36 bra 	$L__BB2_46;
	bra.uni 	$L__BB2_52;

$L__BB2_44:
	ld.global.u8 	%rs3, [%rd3];
	add.s64 	%rd170, %rd2, %rd205;
	st.global.u8 	[%rd170], %rs3;
	add.s64 	%rd205, %rd205, %rd73;
	setp.lt.u64 	%p33, %rd205, %rd94;
	@%p33 bra 	$L__BB2_44;

$L__BB2_52:
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

$L__BB3_1:
	mov.u64 %rd6, %globaltimer;
	add.s32 	%r6, %r6, 1;
	setp.lt.u32 	%p1, %r6, 4096;
	setp.eq.s64 	%p2, %rd6, %rd4;
	and.pred  	%p3, %p2, %p1;
	@%p3 bra 	$L__BB3_1;

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

$L__BB4_1:
	mov.u64 %rd9, %clock64;
	sub.s64 	%rd10, %rd9, %rd8;
	setp.lt.u64 	%p1, %rd10, %rd5;
	@%p1 bra 	$L__BB4_1;

	setp.eq.s64 	%p2, %rd6, 0;
	@%p2 bra 	$L__BB4_4;

	st.global.u64 	[%rd1], %rd8;
	st.global.u64 	[%rd1+8], %rd9;
	st.global.u64 	[%rd1+16], %rd7;
	mov.u64 %rd11, %globaltimer;
	st.global.u64 	[%rd1+24], %rd11;

$L__BB4_4:
	ret;

}

)ptx";

}  // namespace plumbline::timing
